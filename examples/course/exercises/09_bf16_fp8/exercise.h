#pragma once

#include <cstddef>
#include <vector>

/// The state of delayed scaling for one tensor.
struct DelayedScale {
  double largest = 448;    ///< the fp8 format's largest value: 448 for e4m3, 57344 for e5m2
  std::size_t length = 4;  ///< number of steps in the history
  int margin = 0;          ///< doublings to keep free
  std::vector<double> history = {};  ///< amax of the last steps, the newest at the end
  double scale = 1;                  ///< for the next tensor
};

/// Ends a step in which the tensor's largest magnitude was `amax`: appends it to the history, drops
/// what is older than `length` steps, and computes the scale of the next step,
///
///     scale = largest / max(history) / 2^margin
///
/// An amax of inf or NaN counts as 0, so that one bad batch does not spoil later steps. If all of
/// the history is 0, the scale keeps its value.
void end_step(DelayedScale& tensor, double amax);
