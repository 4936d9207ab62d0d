// The budgets of formulas are those of the ops by name.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/testing/error_budget.h>
#include <halfgrad/testing/kernel_formula.h>

namespace halfgrad::testing {
namespace {

using In = std::vector<BoundedArray>;

struct Named {
  KernelFormula formula;
  double most = 1, least = 0.999;  ///< quotients of the formula's budget and the op's
};

std::vector<Named> formulas_of_named_ops() {
  const FormulaInputs rows = {{"m", "k"}};
  const FormulaInputs layers = {{"m", "k"}, {"n", "k"}, {"n"}};
  const FormulaInputs norms = {{"m", "k"}, {"k"}, {"k"}};
  return {
      {{"linear_relu", layers, [](const In& x) { return relu(matmul(x[0], x[1].t()) + x[2]); }}, 1},
      {{"linear", layers, [](const In& x) { return linear(x[0], x[1], x[2]); }}, 1},
      {{"mm", {{"m", "k"}, {"k", "n"}}, [](const In& x) { return matmul(x[0], x[1]); }}, 1},
      {{"softmax", rows, [](const In& x) { return softmax(x[0], -1); }}, 1},
      {{"softmax",
        rows,
        [](const In& x) {
          const BoundedArray e = exp(x[0] - amax(x[0], -1, true));
          return e / sum(e, -1, true);
        },
        {0, 0, 1}},
       1,
       0.2},  // softmax() allows sums that are rescaled, 6 operations a term
      {{"log_softmax", rows, [](const In& x) { return log_softmax(x[0], 1); }}, 1},
      {{"logsumexp", rows, [](const In& x) { return logsumexp(x[0], -1); }, {0, 0, 1}}, 1},
      {{"layer_norm", norms,
        [](const In& x) { return layer_norm(x[0], x[1].sizes(), x[1], x[2]); }},
       1},
      {{"layer_norm", norms,
        [](const In& x) {
          const BoundedArray d = x[0] - mean(x[0], -1, true);
          return d / sqrt(mean(d * d, -1, true) + 1e-5) * x[1] + x[2];
        }},
       1.5,
       0},  // layer_norm() allows (x - mean) (w / d), where w / d of w = 0 has an error
      {{"rms_norm",
        {{"m", "k"}, {"k"}},
        [](const In& x) { return rms_norm(x[0], x[1].sizes(), x[1]); }},
       1},
      {{"gelu", {{"m", "n"}}, [](const In& x) { return gelu(x[0]); }}, 1},
      {{"silu", {{"m", "n"}}, [](const In& x) { return silu(x[0]); }}, 1},
      {{"sigmoid", {{"m", "n"}}, [](const In& x) { return sigmoid(x[0]); }}, 1},
      {{"mse_loss",
        {{"m", "k"}, {"m", "k"}},
        [](const In& x) { return mean(stored(square(x[0] - x[1]))); }},
       1.01},
      {{"scatter_add",
        {{"m", "k"}, FormulaInput({"m", "n"}).indices_below("k"), {"m", "n"}},
        [](const In& x) { return scatter_add(x[0], 1, x[1], x[2]); }},
       1,
       0.6},  // an element that is 0 is not a term
  };
}

/// Expects the same values, and budgets within the stated factor, for all kinds of inputs.
void expect_same_budgets(const Named& named, DType dtype) {
  const KernelOp own = kernel_op(named.formula);
  KernelOp op = kernel_op(named.formula.name);
  op.exact_sums = {};  // a formula does not say whether a kernel may scale the terms of a sum
  for (int kind = 0; kind < kHostileKinds; ++kind) {
    KernelCase tried;
    tried.dims = {5, 4, 33};
    tried.inputs = static_cast<Hostile>(kind);
    tried.contract.dtype = dtype;
    const std::vector<Values> operands = case_operands(op, tried);
    const ErrorBudget a = error_budget(own, operands, kFloat32, dtype);
    const ErrorBudget b = error_budget(op, operands, kFloat32, dtype);
    ASSERT_EQ(a.expected.size(), b.expected.size());
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < a.expected.size(); ++i) {
      if (std::isinf(b.allowed[i])) continue;  // not judged
      const bool nan = std::isnan(b.expected[i]);
      if (nan ? std::isnan(a.expected[i]) : std::isinf(b.expected[i])) {
        EXPECT_TRUE(nan || a.expected[i] == b.expected[i]);
        continue;
      }
      ASSERT_NEAR(a.expected[i], b.expected[i], b.allowed[i] / 100)
          << named.formula.name << ", " << name(tried.inputs);
      if (b.allowed[i] == 0) continue;
      most = std::max(most, a.allowed[i] / b.allowed[i]);
      least = std::min(least, a.allowed[i] / b.allowed[i]);
    }
    EXPECT_LE(most, named.most * 1.0001) << named.formula.name << ", " << name(tried.inputs);
    EXPECT_GE(least, named.least) << named.formula.name << ", " << name(tried.inputs);
  }
}

TEST(FormulaBudgets, AgreeWithThoseOfTheOpsByName) {
  for (const Named& named : formulas_of_named_ops()) {
    for (const DType dtype : {kFloat32, kFloat16}) expect_same_budgets(named, dtype);
  }
}

}  // namespace
}  // namespace halfgrad::testing
