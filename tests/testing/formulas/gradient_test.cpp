// The derivative of the error engine against autograd's, and against finite differences.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/error_budget.h>
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {
namespace {

using In = std::vector<BoundedArray>;
using Tensors = std::vector<Tensor>;

/// One function, over bounded arrays and over tensors.
struct Twice {
  std::string name;
  std::vector<Shape> sizes;
  std::function<BoundedArray(const In&)> bounded;
  std::function<Tensor(const Tensors&)> of_tensors;
};

template <class F>
Twice twice(const char* name, const std::vector<Shape>& sizes, const F& f) {
  return {name, sizes, [f](const In& x) { return f(x); }, [f](const Tensors& x) { return f(x); }};
}

std::vector<Twice> functions() {
  const Shape matrix{3, 4};
  return {
      twice("arithmetic", {matrix, {4}},
            [](const auto& x) { return (x[0] * x[1] - x[0] / (x[1] + 3.0)) + 2.0 * x[0]; }),
      twice("functions", {matrix},
            [](const auto& x) {
              const auto y = exp(x[0]);
              return log(y + 1.0) * sqrt(y) + rsqrt(y) - tanh(x[0]) * erf(x[0]) + abs(x[0]);
            }),
      twice("activations", {matrix},
            [](const auto& x) {
              return sigmoid(x[0]) + silu(x[0]) * relu(x[0]) + gelu(x[0]) + clamp(x[0], -0.5, 0.5);
            }),
      twice("choices", {matrix, {4}},
            [](const auto& x) {
              return maximum(x[0], x[1]) * minimum(x[0], x[1]) +
                     where(x[0] < x[1], x[0], x[1] * x[1]);
            }),
      twice("linear", {{5, 4}, {3, 4}, {3}},
            [](const auto& x) { return relu(matmul(x[0], x[1].t()) + x[2]); }),
      twice("batches", {{2, 3, 4}, {4, 2}}, [](const auto& x) { return matmul(x[0], x[1]); }),
      twice("vector by matrix", {{4}, {4, 2}}, [](const auto& x) { return matmul(x[0], x[1]); }),
      twice("reductions", {matrix},
            [](const auto& x) {
              return sum(x[0], Shape{0}, true) * mean(x[0], Shape{1}, true) +
                     amax(x[0], Shape{1}, true) * amin(x[0], Shape{0}, true) +
                     logsumexp(x[0], Shape{1}, true);
            }),
      twice("softmax", {matrix},
            [](const auto& x) { return softmax(x[0], 0) * log_softmax(x[0], 1); }),
      twice("layer_norm", {matrix, {4}, {4}},
            [](const auto& x) { return layer_norm(x[0], {4}, x[1], x[2], 1e-5); }),
      twice("rms_norm", {matrix, {4}},
            [](const auto& x) { return rms_norm(x[0], {4}, x[1], 1e-5); }),
      twice("moves", {matrix, {4, 3}},
            [](const auto& x) {
              using Arrays = std::decay_t<decltype(x)>;
              return cat(Arrays{x[0].t().reshape({2, 6}), x[1].reshape({2, 6})}, 0);
            }),
  };
}

std::vector<Tensor> drawn(const std::vector<Shape>& sizes) {
  std::vector<Tensor> tensors;
  for (const Shape& shape : sizes) {
    tensors.push_back(random_tensor(shape, -2, 2, {7, tensors.size()}));
  }
  return tensors;
}

/// The gradient by input i, in double, with its bounds in float64.
BoundedArray engine_gradient(const Twice& f, const Tensors& x, const Tensor& dy, std::size_t i) {
  const auto arithmetic = std::make_shared<BoundedArithmetic>(kFloat64, kFloat64);
  In in;
  for (const Tensor& each : x) in.emplace_back(arithmetic, halfgrad::values_of(each));
  in[i] = variable(in[i]);
  return gradient(f.bounded(in), {in[i]}, BoundedArray(arithmetic, halfgrad::values_of(dy)))[0];
}

TEST(FormulaGradient, IsThatOfAutograd) {
  for (const Twice& f : functions()) {
    const Tensors x = drawn(f.sizes);
    for (std::size_t i = 0; i < x.size(); ++i) {
      Tensors leaves = x;
      leaves[i] = x[i].detach().requires_grad_();
      const Tensor y = f.of_tensors(leaves);
      const Tensor dy = random_tensor(y.sizes(), -2, 2, {8, 0});
      const Tensor expected = autograd::grad({y}, {leaves[i]}, {dy})[0];
      const BoundedArray dx = engine_gradient(f, x, dy, i);
      ASSERT_EQ(dx.sizes(), expected.sizes()) << f.name;
      const auto values = expected.to_vector<double>();
      for (std::size_t j = 0; j < values.size(); ++j) {
        const Bounded& each = dx.elements()[j];
        EXPECT_NEAR(each.value, values[j], 1e-12) << f.name << ", input " << i;
        EXPECT_LE(std::fabs(each.value - values[j]), 2 * each.error) << f.name << ", input " << i;
      }
    }
  }
}

double projected(const Twice& f, const Tensors& x, const Tensor& dy) {
  return sum(f.of_tensors(x) * dy).item<double>();
}

TEST(FormulaGradient, IsThatOfFiniteDifferences) {
  constexpr double kStep = 1e-6;
  for (const Twice& f : functions()) {
    const Tensors x = drawn(f.sizes);
    const Tensor dy = random_tensor(f.of_tensors(x).sizes(), -2, 2, {9, 0});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Tensor direction = random_tensor(x[i].sizes(), -1, 1, {10, i});
      Tensors above = x, below = x;
      above[i] = x[i] + direction * kStep;
      below[i] = x[i] - direction * kStep;
      const double expected = (projected(f, above, dy) - projected(f, below, dy)) / (2 * kStep);
      const Values dx = engine_gradient(f, x, dy, i).values();
      double along = 0;
      const auto steps = direction.to_vector<double>();
      for (std::size_t j = 0; j < steps.size(); ++j) along += dx.data[j] * steps[j];
      EXPECT_NEAR(along, expected, 1e-6 * (1 + std::fabs(expected))) << f.name << ", input " << i;
    }
  }
}

// d^2/dx^2 of sum(tanh(x)) is -2 tanh(x) (1 - tanh(x)^2).
TEST(FormulaGradient, IsAFormulaThatHasAGradient) {
  const KernelFormula tanh_of{.name = "tanh_of",
                              .inputs = {{"m", "n"}},
                              .reference = [](const In& x) { return tanh(x[0]); }};
  const KernelFormula second = gradient(gradient(tanh_of, 0), 0);
  EXPECT_EQ(second.name, "tanh_of_backward_backward");
  const auto arithmetic = std::make_shared<AnyArithmetic>();
  const BoundedArray one(arithmetic, Values{{1, 1}, {1}}), x(arithmetic, Values{{1, 1}, {0.5}});
  const double t = std::tanh(0.5);
  EXPECT_NEAR(second.reference({x, one, one})[0].values().data[0], -2 * t * (1 - t * t), 1e-14);
}

TEST(FormulaGradient, ByAnInputThatTheResultDoesNotUseIsZero) {
  const auto arithmetic = std::make_shared<AnyArithmetic>();
  const BoundedArray x = variable({arithmetic, Values{{2}, {1, 2}}});
  const BoundedArray unused = variable({arithmetic, Values{{3}, {1, 2, 3}}});
  const auto gradients = gradient(x * x, {x, unused}, x);
  EXPECT_EQ(gradients[0].values().data, (std::vector<double>{2, 8}));
  EXPECT_EQ(gradients[1].values().data, (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace halfgrad::testing
