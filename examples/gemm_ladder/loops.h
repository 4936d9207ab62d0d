#pragma once

#include <cstdint>

/// Loops of the ladder whose speed is measured, compiled with optimisation in every build.
namespace ladder {

/// c = a b for contiguous a [m, k], b [k, n] and c [m, n]: the definition, on one thread.
void triple_loop(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
                 float* c);

/// FLOP/s of all threads together, measured: each multiplies and adds in registers and touches no
/// memory. No product of matrices on this CPU can be faster.
double measured_peak();

}  // namespace ladder
