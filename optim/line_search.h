#pragma once

#include <cstdint>
#include <functional>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// A point of a line search: the loss at x + t * d, its gradient there, and its derivative along d.
struct TrialPoint {
  double t;
  double loss;
  Tensor gradient;
  double slope;
};

struct LineSearchResult {
  TrialPoint point;
  std::int64_t evaluations;
};

/// Searches a step length t that satisfies the strong Wolfe conditions (Nocedal and Wright 2006,
/// algorithms 3.5 and 3.6). Constants and decisions are those of PyTorch's LBFGS:
///
///     loss(t) <= loss(0) + 1e-4 * t * slope(0)
///     |slope(t)| <= 0.9 * |slope(0)|
///
/// `start` is the point at t = 0, `d_norm` the largest |element| of d. Ends after max_evaluations,
/// or when t * d changes by less than tolerance_change, with the best point so far.
LineSearchResult strong_wolfe(const std::function<TrialPoint(double t)>& evaluate,
                              const TrialPoint& start, double t, double d_norm,
                              double tolerance_change, std::int64_t max_evaluations);

}  // namespace halfgrad::detail
