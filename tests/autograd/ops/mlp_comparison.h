#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>

/// Comparisons of mlp with linear and its activation, layer by layer.
namespace halfgrad {

inline constexpr const char* kMlpActivations[] = {"relu", "gelu", "gelu_tanh"};

/// Compares sums that were added in another order, in float or double. A 16-bit sum may be rounded
/// to a neighbour, and so may the activations that it adds up: `roundings` roundoffs of the largest
/// element.
inline void expect_near_sums(const Tensor& actual, const Tensor& expected, double terms,
                             double roundings = 2) {
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  ASSERT_EQ(a.size(), e.size());
  double largest = 0;
  for (const double each : e) largest = std::fmax(largest, std::abs(each));
  const DType sums = actual.dtype() == kDouble ? kDouble : kFloat;
  double bound = terms * roundoff(sums) * largest;
  if (is_reduced(actual.dtype())) bound += roundings * roundoff(actual.dtype()) * largest;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], e[i], bound) << i;
}

/// The op's value and gradients are those of the ops one by one, on random operands.
inline void expect_layer_by_layer(const std::vector<std::int64_t>& sizes, std::int64_t rows,
                                  DType dtype, Device device, bool biases = true,
                                  const std::string& activation = "relu") {
  SCOPED_TRACE(activation + " " + std::string(name(dtype)) + " rows " + std::to_string(rows) +
               " first " + std::to_string(sizes[0]) + " last " + std::to_string(sizes.back()) +
               " layers " + std::to_string(sizes.size() - 1) + (biases ? " biases" : ""));
  const Layers layers = draw_layers(sizes, dtype, device, biases, activation);
  const Tensor x = randn({rows, sizes.front()}).to(device).to(dtype).requires_grad_();
  const Tensor dy = randn({rows, sizes.back()}).to(device).to(dtype);
  std::vector<Tensor> inputs = layers.all();
  inputs.push_back(x);
  const Tensor expected = layers.one_by_one(x);
  const std::vector<Tensor> expected_gradients = autograd::grad({expected}, inputs, {dy});
  const Tensor actual = layers.as_one_op(x);
  const std::vector<Tensor> gradients = autograd::grad({actual}, inputs, {dy});
  const bool same_order = device.is_cpu();  // cuBLASLt adds products in an order of its own
  const double terms = 64 * static_cast<double>(sizes.size());
  if (same_order) {
    EXPECT_EQ(actual.to_vector<double>(), expected.to_vector<double>());
    EXPECT_EQ(gradients.back().to_vector<double>(), expected_gradients.back().to_vector<double>());
  } else {
    expect_near_sums(actual, expected, terms, 8);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(gradients[i].dtype(), expected_gradients[i].dtype());
    expect_near_sums(gradients[i], expected_gradients[i], terms + static_cast<double>(rows),
                     same_order ? 2 : 8);
  }
}

}  // namespace halfgrad
