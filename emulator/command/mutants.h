#pragma once

#include <string>

#include <halfgrad/emulator/command/options.h>

namespace halfgrad::emulator {

/// Runs the program once as it is, and once for each mutant of the kernel lines that it executes.
/// Prints which mutants made it fail, or made a check report an error, and which nothing noticed.
/// Returns 0 if all were found, 9 otherwise, or what the unchanged program returns if that fails.
int try_mutants(const CommandOptions& options);

/// Throws std::runtime_error if a run with Settings::mutant executed no instruction that the mutant
/// changes. `json` is the run's report; "" names no mutant.
void expect_mutant(const std::string& json, const std::string& mutant);

}  // namespace halfgrad::emulator
