#pragma once

#include <string>
#include <utility>
#include <vector>

namespace halfgrad::emulator {

inline constexpr int kNotStarted = 127;  ///< exit code of a program that cannot be started

struct RunLimits {
  bool silent = false;  ///< discards the program's output
  double seconds = 0;   ///< ends the program by SIGKILL after that time; 0: never
};

/// Runs a program with further environment variables and waits for it. Returns its exit code, 128 +
/// the number of the signal that ended it, or kNotStarted if it cannot be started, with a message.
int run_program(const std::vector<std::string>& program,
                const std::vector<std::pair<std::string, std::string>>& environment,
                const RunLimits& limits = {});

/// The folder of the stand-in libraries: HALFGRAD_EMULATOR_LIBRARIES, or ../lib/halfgrad-emulator
/// beside this program. Throws std::runtime_error if libcudart is not there.
std::string library_folder();

}  // namespace halfgrad::emulator
