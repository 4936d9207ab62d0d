#pragma once

#include <concepts>
#include <cstddef>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/layer_config.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// In training mode sets each element to 0 with probability p and divides the others by 1 - p, so
/// that the expected value of each element is the input. In evaluation mode returns the input
/// (Srivastava et al., 2014).
class Dropout : public Callable<Dropout> {
 public:
  template <std::same_as<std::nullptr_t> T>
  Dropout(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument unless 0 <= p <= 1.
  explicit Dropout(double p = 0.5, bool inplace = false)
      : Callable("Dropout", detail::text("p=", p, ", inplace=", inplace)), options(p, inplace) {
    if (!(p >= 0 && p <= 1)) halfgrad::detail::fail("Dropout", "expected 0 <= p <= 1, got {}", p);
  }

  Tensor forward(const Tensor& input) const {
    const bool inplace = options.inplace();
    const Tensor y = dropout(inplace ? input.clone() : input, options.p(), is_training());
    return inplace ? input.copy_(y) : y;
  }

  DropoutConfig options;
};

}  // namespace halfgrad::nn
