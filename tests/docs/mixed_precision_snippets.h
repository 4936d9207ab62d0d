#pragma once

#include <iosfwd>
#include <vector>

/// The programs of docs/mixed-precision.md: each runs, and prints what the page shows.
namespace halfgrad::tests {

void print_formats(std::ostream& out);
/// The page's training step; returns the new weights.
std::vector<float> run_training_step();
void print_autocast(std::ostream& out);
void print_masters(std::ostream& out);

}  // namespace halfgrad::tests
