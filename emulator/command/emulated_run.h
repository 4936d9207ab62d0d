#pragma once

#include <string>
#include <vector>

#include <halfgrad/emulator/command/child_process.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {

// Exit codes of halfgrad-emulate, beside the program's own.
inline constexpr int kErrorsFound = 9;      ///< or, with --mutants, a mutant that nothing noticed
inline constexpr int kNothingChecked = 10;  ///< the program left no report

struct EmulatedRun {
  int code = 0;      ///< see run_program
  std::string json;  ///< the report of the program's process (report/process_report.h), or ""
};

/// Runs a program on the stand-in libraries. Throws std::runtime_error if the file of suppressions
/// is wrong or the libraries are missing.
EmulatedRun run_emulated(const std::vector<std::string>& program, Settings settings,
                         const RunLimits& limits = {});

}  // namespace halfgrad::emulator
