#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>

namespace halfgrad {

using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// A float64 leaf with standard normal values that depend only on `stream`.
inline Tensor random_leaf(const Shape& sizes, std::uint64_t stream) {
  const Array elements = Array::empty(sizes, kDouble, get_default_device());
  random::normal(elements, 0, 1, {42, stream});
  return Tensor(elements).requires_grad_();
}

/// sum_i t_i c_i with a fixed random c: errors of the gradient do not cancel in this loss.
inline Tensor weighted_sum(const Tensor& t) {
  return sum(t * random_leaf(t.sizes(), 1000).detach().to(t.device()));
}

/// Compares the gradients of weighted_sum(f(inputs)) with central differences, in float64.
///
/// A step h = 2^-17 has a truncation error of h^2 and a rounding error of 2^-53 / h, each times the
/// magnitude of the function's values; the tolerance 2^-26 allows a factor of 2^8 for that.
inline void expect_gradients(const TensorFunction& f, const std::vector<Tensor>& inputs) {
  constexpr double kStep = 0x1p-17;
  constexpr double kTolerance = 0x1p-26;
  const std::vector<Tensor> gradients = autograd::grad({weighted_sum(f(inputs))}, inputs);
  const auto loss = [&] {
    const NoGradGuard no_grad;
    return weighted_sum(f(inputs)).item<double>();
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    ASSERT_EQ(gradients[k].sizes(), inputs[k].sizes());
    const std::vector<double> gradient = gradients[k].to_vector<double>();
    for (std::int64_t i = 0; i < inputs[k].numel(); ++i) {
      const Array x = inputs[k].array().reshape({-1}).select(0, i);
      const double before = x.item();
      x.fill_(before + kStep);
      const double above = loss();
      x.fill_(before - kStep);
      const double below = loss();
      x.fill_(before);
      const double expected = (above - below) / (2 * kStep);
      EXPECT_NEAR(gradient[static_cast<std::size_t>(i)], expected,
                  kTolerance * std::max(1.0, std::abs(expected)))
          << "input " << k << ", element " << i;
    }
  }
}

/// Compares the second derivatives, which create_graph records, with central differences.
inline void expect_second_gradients(const TensorFunction& f, const std::vector<Tensor>& inputs) {
  const TensorFunction gradient = [&f](const std::vector<Tensor>& at) {
    const EnableGradGuard recording;
    Tensor total = tensor(0.0, {.dtype = kDouble});
    for (const Tensor& g :
         autograd::grad({weighted_sum(f(at) * f(at))}, at, {}, {.create_graph = true})) {
      total = total + weighted_sum(g);
    }
    return total;
  };
  expect_gradients(gradient, inputs);
}

}  // namespace halfgrad
