#pragma once

#include <string>

/// halfgrad-check --emulate: runs the check of a CUDA kernel as another process under
/// halfgrad-emulate, and adds what the emulator saw to the report.
namespace halfgrad::check {

/// The report of a check in the three forms that halfgrad-check writes.
struct Documents {
  std::string text, json, junit;
  int exit_code = 0;
};

/// Repeats this command line under halfgrad-emulate, with `--reports FOLDER`, and returns the
/// reports of both. The exit code is 1 if either found a fault, and 2, without reports, after the
/// process printed why it could not check. Throws std::runtime_error if the emulator is missing or
/// the process crashed.
Documents check_emulated(int argc, char** argv);

/// Writes the reports for check_emulated() into `folder`.
void write_documents(const std::string& folder, const Documents& documents);

}  // namespace halfgrad::check
