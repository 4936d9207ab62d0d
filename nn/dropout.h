#pragma once

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/module.h>
#include <concepts>
#include <cstddef>

namespace halfgrad::nn {

/// In training mode sets each element to 0 with probability p and divides the others by 1 - p, so
/// that the expected value stays. In evaluation mode returns the input (Srivastava et al., 2014).
class Dropout : public Callable<Dropout> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Dropout(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument unless 0 <= p <= 1.
  explicit Dropout(double p = 0.5, bool inplace = false)
      : Callable("Dropout", detail::text("p=", p, ", inplace=", inplace)),
        p_(p),
        inplace_(inplace) {
    if (!(p >= 0 && p <= 1)) halfgrad::detail::fail("Dropout", "expected 0 <= p <= 1, got {}", p);
  }

  Tensor forward(const Tensor& input) const {
    const Tensor y = dropout(inplace_ ? input.clone() : input, p_, is_training());
    return inplace_ ? input.copy_(y) : y;
  }

 private:
  double p_ = 0.5;
  bool inplace_ = false;
};

}  // namespace halfgrad::nn
