#pragma once

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// In training mode sets each element to 0 with probability p and divides the others by 1 - p, so
/// that the expected value stays. In evaluation mode returns the input (Srivastava et al., 2014).
class Dropout : public Callable<Dropout> {
 public:
  /// Throws std::invalid_argument unless 0 <= p <= 1.
  explicit Dropout(double p = 0.5) : Callable("Dropout", detail::text("p=", p)), p_(p) {
    if (!(p >= 0 && p <= 1)) halfgrad::detail::fail("Dropout", "expected 0 <= p <= 1, got {}", p);
  }

  Tensor forward(const Tensor& input) const { return dropout(input, p_, is_training()); }

 private:
  double p_;
};

}  // namespace halfgrad::nn
