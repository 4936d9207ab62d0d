#pragma once

#include <string>

#include "emulated.h"

namespace halfgrad::check {

/// Adds the JSON and JUnit reports of halfgrad-emulate to those of a check, and sets the exit code.
/// Throws std::runtime_error if the kernel launched nothing in the emulator.
void add_emulator_report(Documents& check, const std::string& emulator_json,
                         const std::string& emulator_junit);

}  // namespace halfgrad::check
