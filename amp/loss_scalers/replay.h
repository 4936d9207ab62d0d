#pragma once

#include <cstddef>
#include <vector>

#include <halfgrad/amp/grad_scaler_options.h>

namespace halfgrad::amp {

/// For each step the largest loss scale without an overflow; NaN if every scale overflows, infinity
/// if none does.
using OverflowTrace = std::vector<double>;

/// The result of replay().
struct ReplayResult {
  std::size_t wasted = 0;  ///< steps that overflowed
  std::size_t below = 0;   ///< steps with a scale of at most half the useful one
  double final_scale = 0;
};

/// Runs next() over a trace, from initial_scale(). The useful scale is the median of the trace,
/// without its NaN steps.
ReplayResult replay(const GradScalerOptions& options, const OverflowTrace& limits);

}  // namespace halfgrad::amp
