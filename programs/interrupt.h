#pragma once

#include <string>
#include <vector>

/// Ctrl-C in the middle of a training.
namespace programs {

/// From here on the first SIGINT or SIGTERM is remembered, so that a training can finish its step,
/// save, and say how it goes on. The second one ends the program at once.
void remember_interrupts();

bool is_interrupted();

/// 130 after SIGINT and 143 after SIGTERM, as a shell reports them; otherwise 0.
int interrupted_status();

/// The command line again, for a shell: without the options in `left_out` and their values, and
/// with `added` behind it.
std::string command_again(const std::vector<std::string>& command,
                          const std::vector<std::string>& left_out,
                          const std::vector<std::string>& added);

}  // namespace programs
