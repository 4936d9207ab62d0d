#include "op_suite.h"

#include <cmath>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/testing/ulp.h>

// Values, gradients and their determinism, for every op of the table.
namespace halfgrad {
namespace {

using OpSuite = OpTest;

TEST_P(OpSuite, ValueIsThatOfTheReference) {
  for (const DType dtype : kFloatingDTypes) {
    EXPECT_LE(measured_roundoffs(op(), dtype, device()), op().roundoffs) << name(dtype);
  }
}

// A view of a temporary would refuse detach_() and resize_(), though nobody else has its storage.
TEST_P(OpSuite, ResultIsAViewOnlyOfAnOperand) {
  for (const OpExample& example : op().examples) {
    const auto operands = drawn(example, kFloat32);
    const Tensor result = example.run(operands);
    const bool shared = std::any_of(operands.begin(), operands.end(), [&](const Tensor& operand) {
      return operand.array().storage() == result.array().storage();
    });
    EXPECT_EQ(result.is_view(), shared) << example.name;
  }
}

TEST_P(OpSuite, GradientIsTheLimitOfDifferences) {
  for (const OpExample& example : op().examples) {
    const auto operands = require_grad(drawn(example, kFloat64), example);
    if (!op().differentiable || !any_requires_grad(operands)) continue;
    SCOPED_TRACE(example.name);
    EXPECT_NO_THROW(autograd::gradcheck(example.run, operands));
  }
}

TEST_P(OpSuite, SecondDerivativeIsTheLimitOfDifferences) {
  for (const OpExample& example : op().examples) {
    const auto operands = require_grad(drawn(example, kFloat64), example);
    if (!op().differentiable || !any_requires_grad(operands)) continue;
    SCOPED_TRACE(example.name);
    EXPECT_NO_THROW(autograd::gradgradcheck(example.run, operands));
  }
}

// An elementwise gradient is one kernel, recorded or not.
TEST_P(OpSuite, CreateGraphGivesTheSameGradient) {
  const double roundoffs = op().elementwise ? 0 : 2 * op().roundoffs + 2;
  for (const OpExample& example : op().examples) {
    const auto operands = drawn(example, kFloat64);
    const auto plain = run_and_differentiate(op(), example, operands);
    const auto recorded = run_and_differentiate(op(), example, operands, true);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_LE(worst_error(recorded[i], plain[i]).roundoffs, roundoffs)
          << example.name << ", output " << i;
    }
  }
}

// Backward in 16 bits adds a rounding to each factor and to the result; for a broadcast operand it
// sums as many rounded gradients as there are copies.
TEST_P(OpSuite, SixteenBitGradientIsNearTheFloat64Gradient) {
  for (const DType dtype : {kFloat16, kBFloat16}) {
    for (const OpExample& example : op().examples) {
      const auto rounded = drawn(example, dtype);
      auto exact = rounded;
      for (Tensor& operand : exact) {
        if (operand.is_floating_point()) operand = operand.to(kFloat64);
      }
      const auto got = run_and_differentiate(op(), example, rounded);
      const auto expected = run_and_differentiate(op(), example, exact);
      for (std::size_t i = 1; i < got.size(); ++i) {
        const auto wanted = expected[i].to_vector<double>();
        double scale = 1;
        for (const double gradient : wanted) scale = std::fmax(scale, std::fabs(gradient));
        const double repeats =
            std::fmax(1, static_cast<double>(got[0].numel()) / static_cast<double>(got[i].numel()));
        const auto values = got[i].to_vector<double>();
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          EXPECT_LE(std::fabs(values[k] - wanted[k]) / roundoff(dtype),
                    (op().roundoffs + 4) * scale * repeats)
              << describe(example, dtype) << ", gradient " << i << ", element " << k;
        }
      }
    }
  }
}

TEST_P(OpSuite, ThreadsDoNotChangeBits) {
  const int threads = get_num_threads();
  for (OpExample example : op().examples) {
    if (op().elementwise) {
      for (OperandSpec& spec : example.operands) spec.sizes = {3, 50000};
    }
    const auto operands = drawn(example, kFloat32);
    set_num_threads(1);
    const auto one = run_and_differentiate(op(), example, operands);
    set_num_threads(2);
    const auto two = run_and_differentiate(op(), example, operands);
    SCOPED_TRACE(example.name);
    expect_same_bits(two, one);
  }
  set_num_threads(threads);
}

// The default dtype is that of tensors made from nothing, and of integers that become fractions.
// Ops of floating-point operands must not make such tensors.
TEST_P(OpSuite, DefaultDTypeDoesNotChangeResults) {
  for (const OpExample& example : op().examples) {
    const auto operands = drawn(example, kFloat32);
    for (const bool create_graph : {false, true}) {
      const auto expected = run_and_differentiate(op(), example, operands, create_graph);
      for (const DType dtype : {kFloat64, kFloat16}) {
        SCOPED_TRACE(example.name + " with default " + std::string(name(dtype)));
        set_default_dtype(dtype);
        const auto actual = run_and_differentiate(op(), example, operands, create_graph);
        set_default_dtype(kFloat32);
        expect_same_bits(actual, expected);
        for (std::size_t i = 0; i < actual.size(); ++i) {
          EXPECT_EQ(actual[i].dtype(), expected[i].dtype()) << "output " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpSuite, on_devices(all_ops()), name_of);

}  // namespace
}  // namespace halfgrad
