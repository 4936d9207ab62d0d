#pragma once

#include <string>
#include <vector>

/// Handling of Ctrl-C and of other requests to end during a training.
namespace programs {

/// From now on records the first SIGINT, SIGTERM or SIGHUP, so that a training can finish its step,
/// save, and print how to resume it. A later one ends the program at once, but not within 0.1
/// seconds: timeout(1) and others send a signal twice, to the process and to its group.
void remember_interrupts();

bool is_interrupted();

/// Exit status as a shell reports it: 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP,
/// otherwise 0.
int interrupted_status();

/// Returns the command line, quoted for a shell, without the options in `left_out` and their
/// values, followed by `added`.
std::string command_again(const std::vector<std::string>& command,
                          const std::vector<std::string>& left_out,
                          const std::vector<std::string>& added);

}  // namespace programs
