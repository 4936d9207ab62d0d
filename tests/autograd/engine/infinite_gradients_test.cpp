#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/ulp.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// A loss scale that is too large makes gradients infinite. A zero slope either stops an infinite
// gradient (it is selected) or turns it into NaN (it is multiplied): each op follows PyTorch's
// derivatives.yaml.
namespace halfgrad {
namespace {

struct Rule {
  std::string op;
  std::string rule;
  std::function<Tensor(const Tensor&)> function;
  std::vector<double> at;
  std::vector<double> gradient;      // for dy = inf
  std::vector<double> nan_gradient;  // for dy = NaN
};

class InfiniteGradients : public TensorsOnDevice {
 protected:
  std::vector<Rule> rules() const;
};
HALFGRAD_ON_DEVICES(InfiniteGradients);

std::vector<Rule> InfiniteGradients::rules() const {
  const Tensor ones = elements({1, 1, 1});
  const Tensor bools = elements({0, 1}).to(kBool);
  return {
      {"relu",
       "y <= 0 ? 0 : dy",
       [](const Tensor& x) { return relu(x); },
       {-1, 0, 2, kNan},
       {0, 0, kInf, kInf},
       {0, 0, kNan, kNan}},
      {"leaky_relu",
       "x > 0 ? dy : dy * negative_slope",
       [](const Tensor& x) { return leaky_relu(x, 0.25); },
       {-1, 0, 2},
       {kInf, kInf, kInf},
       {kNan, kNan, kNan}},
      {"leaky_relu of slope 0",
       "x > 0 ? dy : dy * negative_slope",
       [](const Tensor& x) { return leaky_relu(x, 0); },
       {-1, 0, 2},
       {kNan, kNan, kInf},
       {kNan, kNan, kNan}},
      {"clamp",
       "min < x && x < max ? dy : 0, as PyTorch 2.15 has it",
       [](const Tensor& x) { return clamp(x, -1, 1); },
       {-2, -1, 0, 1, 2, kNan},
       {0, 0, kInf, 0, 0, 0},
       {0, 0, kNan, 0, 0, 0}},
      {"maximum",
       "x == other ? dy / 2 : x < other ? 0 : dy",
       [=](const Tensor& x) { return maximum(x, ones); },
       {0, 1, 2},
       {0, kInf, kInf},
       {0, kNan, kNan}},
      {"minimum",
       "x == other ? dy / 2 : x > other ? 0 : dy",
       [=](const Tensor& x) { return minimum(ones, x); },
       {0, 1, 2},
       {kInf, kInf, 0},
       {kNan, kNan, 0}},
      {"abs",
       "dy * sgn(x)",
       [](const Tensor& x) { return abs(x); },
       {-1, 0, 2},
       {-kInf, kNan, kInf},
       {kNan, kNan, kNan}},
      {"pow",
       "exponent == 0 ? 0 : dy * (exponent * x ** (exponent - 1))",
       [=, this](const Tensor& x) {
         return pow(x, elements({0, 0, 0, 0, 1, 2, 2}));
       },
       {0, 3, kInf, kNan, 0, 0, 3},
       {0, 0, 0, 0, kInf, kNan, kInf},
       {0, 0, 0, 0, kNan, kNan, kNan}},
      {"pow of a Scalar exponent",
       "exponent == 0 ? 0 : dy * (exponent * x ** (exponent - 1))",
       [](const Tensor& x) { return pow(x, 0); },
       {0, -3, kInf, kNan},
       {0, 0, 0, 0},
       {0, 0, 0, 0}},
      {"pow, by its exponent",
       "dy * (base == 0 && x >= 0 ? 0 : base ** x * log(base))",
       [=, this](const Tensor& x) {
         return pow(elements({0, 0, 2, 1}), x);
       },
       {0, 2, 0, 2},
       {kNan, kNan, kInf, kNan},
       {kNan, kNan, kNan, kNan}},
      {"where",
       "condition ? dy : 0",
       [=](const Tensor& x) { return where(bools, x, x.detach()); },
       {3, 4},
       {0, kInf},
       {0, kNan}},
      {"masked_fill",
       "mask ? 0 : dy",
       [=](const Tensor& x) { return masked_fill(x, bools, 5); },
       {3, 4},
       {kInf, 0},
       {kNan, 0}},
  };
}

TEST_P(InfiniteGradients, AreSelectedOrMultipliedAsInPyTorch) {
  for (const Rule& rule : rules()) {
    for (const bool create_graph : {false, true}) {
      SCOPED_TRACE(rule.op + ": " + rule.rule + (create_graph ? ", create_graph" : ""));
      const Tensor x = elements(rule.at).requires_grad_();
      const Tensor y = rule.function(x);
      const auto gradient = [&](double dy) {
        return autograd::grad({y}, {x}, {Tensor(Array::full(x.sizes(), dy, kFloat64, device()))},
                              {.retain_graph = true, .create_graph = create_graph})[0];
      };
      expect_values(gradient(kInf), rule.gradient);
      expect_values(gradient(kNan), rule.nan_gradient);
    }
  }
}

TEST_P(InfiniteGradients, AMaskedGradientIsMaskedWhenDifferentiatedAgain) {
  const Tensor x = elements({-1, 2}).requires_grad_();
  const Tensor dy = elements({kInf, kInf}).requires_grad_();
  const Tensor dx = autograd::grad({relu(x)}, {x}, {dy}, {.create_graph = true})[0];
  const auto second = autograd::grad({dx}, {x, dy}, {elements({1, 1})});
  expect_values(second[0], {0, 0});
  expect_values(second[1], {0, 1});
}

TEST_P(InfiniteGradients, APowerOfZeroIsStoppedWhenDifferentiatedAgain) {
  const Tensor x = elements({0, 3}).requires_grad_();
  const Tensor exponent = elements({0, 0}).requires_grad_();
  const Tensor dy = elements({kInf, kNan}).requires_grad_();
  const Tensor dx = autograd::grad({pow(x, exponent)}, {x}, {dy}, {.create_graph = true})[0];
  for (const Tensor& second : autograd::grad({dx}, {x, exponent, dy}, {elements({1, kInf})})) {
    expect_values(second, {0, 0});
  }
}

}  // namespace
}  // namespace halfgrad
