#pragma once

#include <cstdint>

/// One line on a terminal that says how far a long check is.
namespace halfgrad::check {

/// True if standard error is a terminal.
bool shows_progress();
/// Prints the number of the case that runs, from the second second on and ten times a second.
void print_progress(std::int64_t running, std::int64_t total);
void clear_progress();

}  // namespace halfgrad::check
