#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/autograd/ops/mlp_layers.h>

// The loss of an mlp as one op, mlp_cross_entropy, and as two.
namespace halfgrad {

using Bits = std::vector<std::vector<double>>;

// A batch for some layers, and the loss with one op and with two.
struct LossCase {
  LossCase(const std::vector<std::int64_t>& sizes, std::int64_t rows, DType dtype, Device device,
           DType input_dtype, bool biases = true, const std::string& activation = "relu")
      : layers(draw_layers(sizes, dtype, device, biases, activation)),
        x(randn({rows, sizes.front()}).to(device).to(input_dtype).requires_grad_()),
        target(randint(sizes.back(), {rows}).to(device)) {}
  LossCase(const std::vector<std::int64_t>& sizes, std::int64_t rows, DType dtype, Device device)
      : LossCase(sizes, rows, dtype, device, dtype) {}

  Tensor one_op() const {
    return mlp_cross_entropy(x, layers.weights, layers.biases, target, layers.activation);
  }
  Tensor two_ops() const { return cross_entropy(layers.as_one_op(x), target); }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> all = layers.all();
    all.push_back(x);
    return all;
  }
  // The gradients that backward() left, which it takes away.
  Bits gradients() const {
    Bits all;
    for (const Tensor& input : inputs()) {
      EXPECT_EQ(input.grad().dtype(), input.dtype());
      all.push_back(input.grad().to_vector<double>());
      input.set_grad(Tensor());
    }
    return all;
  }

  Layers layers;
  Tensor x, target;
};

// NaN is equal to itself here.
inline void expect_equal(const Bits& actual, const Bits& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].size(), expected[i].size());
    for (std::size_t k = 0; k < actual[i].size(); ++k) {
      const double a = actual[i][k], e = expected[i][k];
      ASSERT_TRUE(a == e || (std::isnan(a) && std::isnan(e)))
          << i << ' ' << k << ' ' << a << ' ' << e;
    }
  }
}

// Compares loss and gradients, where the loss is looked at after or before backward.
inline void expect_bits_of_two_ops(const LossCase& of, double dloss = 1) {
  const Tensor expected = of.two_ops();
  const Tensor gradient = full({}, dloss).to(of.x.device()).to(expected.dtype());
  expected.backward(gradient);
  const Bits gradients = of.gradients();
  for (const bool look_first : {false, true}) {
    SCOPED_TRACE(look_first ? "looked at before" : "looked at after");
    const Tensor actual = of.one_op();
    EXPECT_EQ(actual.dtype(), expected.dtype());
    EXPECT_EQ(actual.sizes(), Shape{});
    if (look_first) expect_equal({{actual.item()}}, {{expected.item()}});
    actual.backward(gradient);
    expect_equal({{actual.item()}}, {{expected.item()}});
    expect_equal(of.gradients(), gradients);
  }
  const NoGradGuard no_grad;
  expect_equal({{of.one_op().item()}}, {{expected.item()}});
}

}  // namespace halfgrad
