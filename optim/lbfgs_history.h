#pragma once

#include <cstdint>
#include <deque>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// The memory of L-BFGS from one iteration to the next. Tensors are flat, with an element for each
/// of all parameters.
struct LBFGSHistory {
  struct Pair {
    Tensor y, s;  // changes of the gradient and of the parameters
    double rho;   // 1 / (y * s)
  };

  std::deque<Pair> pairs;
  Tensor d, gradient;  // the last direction, and the gradient before it
  double t = 0, h_diag = 1, loss = 0;
  std::int64_t iterations = 0, evaluations = 0;

  /// Adds the pair of the last iteration, unless its curvature is too small.
  void add(const Tensor& next_gradient, std::int64_t history_size);

  /// Returns -H * gradient, by the two loops of Nocedal and Wright 2006, algorithm 7.4.
  Tensor direction(const Tensor& next_gradient) const;

  /// Read from, and written to, the state of an optimizer, with PyTorch's names.
  static LBFGSHistory of(const optim::ParamState& state, std::int64_t numel);
  void store(optim::ParamState& state) const;
};

}  // namespace halfgrad::detail
