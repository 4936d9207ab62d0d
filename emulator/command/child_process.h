#pragma once

#include <string>
#include <vector>

namespace halfgrad::emulator {

/// Runs a program with further environment variables and waits for it. Returns its exit code, 128 +
/// the number of the signal that ended it, or 127 if it cannot be started, with a message.
int run_program(const std::vector<std::string>& program,
                const std::vector<std::pair<std::string, std::string>>& environment);

/// The folder of the stand-in libraries: HALFGRAD_EMULATOR_LIBRARIES, or ../lib/halfgrad-emulator
/// beside this program. Throws std::runtime_error if libcudart is not there.
std::string library_folder();

}  // namespace halfgrad::emulator
