#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/ulp.h>

// What every op of the table must do. A failure names the op, its example and the dtype.
namespace halfgrad {

void PrintTo(const OpEntry& op, std::ostream* out) { *out << op.name; }

namespace {

constexpr DType kFloatingDTypes[] = {kFloat64, kFloat32, kFloat16, kBFloat16};
constexpr std::uint64_t kSeed = 7;

class OpSuite : public ::testing::TestWithParam<OpEntry> {
 protected:
  const OpEntry& op() const { return GetParam(); }
};

std::string describe(const OpExample& example, DType dtype) {
  return "example '" + example.name + "' in " + std::string(name(dtype));
}

std::vector<Tensor> require_grad(std::vector<Tensor> operands, const OpExample& example) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (example.operands[i].differentiable && operands[i].is_floating_point()) {
      operands[i] = operands[i].detach().requires_grad_();
    }
  }
  return operands;
}

bool any_requires_grad(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return tensor.requires_grad(); });
}

/// The result and the gradients of all differentiable operands, for a random cotangent that 16 bits
/// can hold.
std::vector<Tensor> run_and_differentiate(const OpEntry& op, const OpExample& example,
                                          std::vector<Tensor> operands, bool create_graph = false) {
  operands = require_grad(std::move(operands), example);
  const Tensor result = example.run(operands);
  std::vector<Tensor> all = {result};
  if (!op.differentiable || !any_requires_grad(operands)) return all;
  const Tensor cotangent =
      random_tensor(result.sizes(), -1, 1, {kSeed, 99}).to(kBFloat16).to(result.dtype());
  std::vector<Tensor> inputs;
  for (const Tensor& operand : operands) {
    if (operand.requires_grad()) inputs.push_back(operand);
  }
  for (const Tensor& gradient :
       autograd::grad({result}, inputs, {cotangent}, {.create_graph = create_graph})) {
    all.push_back(gradient);
  }
  return all;
}

void expect_same_bits(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].sizes(), expected[i].sizes()) << "output " << i;
    EXPECT_EQ(actual[i].to_vector<double>(), expected[i].to_vector<double>()) << "output " << i;
  }
}

TEST_P(OpSuite, ValueIsTheReferences) {
  for (const DType dtype : kFloatingDTypes) {
    EXPECT_LE(measured_roundoffs(op(), dtype), op().roundoffs) << name(dtype);
  }
}

TEST_P(OpSuite, GradientIsTheLimitOfDifferences) {
  for (const OpExample& example : op().examples) {
    const auto operands = require_grad(draw_operands(example, kFloat64, kSeed), example);
    if (!op().differentiable || !any_requires_grad(operands)) continue;
    SCOPED_TRACE(example.name);
    EXPECT_NO_THROW(autograd::gradcheck(example.run, operands));
  }
}

TEST_P(OpSuite, SecondDerivativeIsTheLimitOfDifferences) {
  for (const OpExample& example : op().examples) {
    const auto operands = require_grad(draw_operands(example, kFloat64, kSeed), example);
    if (!op().differentiable || !any_requires_grad(operands)) continue;
    SCOPED_TRACE(example.name);
    EXPECT_NO_THROW(autograd::gradgradcheck(example.run, operands));
  }
}

// An elementwise gradient is one kernel, recorded or not.
TEST_P(OpSuite, CreateGraphGivesTheSameGradient) {
  const double roundoffs = op().elementwise ? 0 : 2 * op().roundoffs + 2;
  for (const OpExample& example : op().examples) {
    const auto operands = draw_operands(example, kFloat64, kSeed);
    const auto plain = run_and_differentiate(op(), example, operands);
    const auto recorded = run_and_differentiate(op(), example, operands, true);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_LE(worst_error(recorded[i], plain[i]).roundoffs, roundoffs)
          << example.name << ", output " << i;
    }
  }
}

// Backward in 16 bits adds a rounding to each factor and to the result, and where an operand is
// broadcast it sums that many rounded gradients.
TEST_P(OpSuite, SixteenBitGradientIsNearTheFloat64Gradient) {
  for (const DType dtype : {kFloat16, kBFloat16}) {
    for (const OpExample& example : op().examples) {
      const auto rounded = draw_operands(example, dtype, kSeed);
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
    const auto operands = draw_operands(example, kFloat32, kSeed);
    set_num_threads(1);
    const auto one = run_and_differentiate(op(), example, operands);
    set_num_threads(2);
    const auto two = run_and_differentiate(op(), example, operands);
    SCOPED_TRACE(example.name);
    expect_same_bits(two, one);
  }
  set_num_threads(threads);
}

Tensor transposed(const Tensor& x) {
  return x.dim() < 2 ? x : Tensor(x.array().transpose(0, -1).contiguous().transpose(0, -1));
}

Tensor every_second_element(const Tensor& x) {
  if (x.dim() == 0) return x;
  Shape sizes = x.sizes();
  sizes[sizes.size() - 1] *= 2;
  const Array spaced = Array::full(sizes, 1, x.dtype()).slice(-1, 0, sizes[sizes.size() - 1], 2);
  spaced.copy_(x.array());
  return Tensor(spaced);
}

Tensor with_repeated_rows(const Tensor& x) {
  return x.dim() < 2 ? x : Tensor(x.array().slice(0, 0, 1).expand(x.sizes()));
}

TEST_P(OpSuite, StridesDoNotChangeBits) {
  if (!op().elementwise) GTEST_SKIP() << "for elementwise ops";
  for (const OpExample& example : op().examples) {
    for (const auto layout : {transposed, every_second_element, with_repeated_rows}) {
      for (const DType dtype : {kFloat32, kFloat16}) {
        SCOPED_TRACE(describe(example, dtype));
        std::vector<Tensor> strided;
        std::vector<Tensor> contiguous;
        for (const Tensor& operand : draw_operands(example, dtype, kSeed)) {
          strided.push_back(layout(operand));
          contiguous.emplace_back(strided.back().array().clone());
        }
        expect_same_bits(run_and_differentiate(op(), example, strided),
                         run_and_differentiate(op(), example, contiguous));
      }
    }
  }
}

TEST_P(OpSuite, EmptyOperandsGiveEmptyResults) {
  if (!op().elementwise) GTEST_SKIP() << "for elementwise ops";
  for (OpExample example : op().examples) {
    for (OperandSpec& spec : example.operands) spec.sizes = {0, 3};
    for (const Tensor& output :
         run_and_differentiate(op(), example, draw_operands(example, kFloat16, kSeed))) {
      EXPECT_EQ(output.sizes(), (Shape{0, 3})) << example.name;
    }
  }
}

TEST_P(OpSuite, OneElementIsEnough) {
  if (!op().elementwise) GTEST_SKIP() << "for elementwise ops";
  for (const Shape& sizes : {Shape{}, Shape{1}}) {
    for (OpExample example : op().examples) {
      for (OperandSpec& spec : example.operands) spec.sizes = sizes;
      const auto operands = draw_operands(example, kFloat32, kSeed);
      const auto got = run_and_differentiate(op(), example, operands);
      EXPECT_LE(worst_error(got[0], expected_result(example, operands)).roundoffs, op().roundoffs);
      EXPECT_EQ(got[0].sizes(), sizes);
    }
  }
}

/// Zeros, the ends of the dtype's range, and what is no number.
std::vector<double> edge_values(DType dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double tiny = dtype == kFloat64   ? 0x1p-1074
                      : dtype == kFloat16 ? 0x1p-24
                      : dtype == kFloat32 ? 0x1p-149
                                          : 0x1p-133;
  const double largest = dtype == kFloat64   ? std::numeric_limits<double>::max()
                         : dtype == kFloat16 ? 65504
                         : dtype == kFloat32 ? std::numeric_limits<float>::max()
                                             : 0x1.fep127;
  return {0,
          -0.0,
          1,
          -1,
          tiny,
          -tiny,
          largest,
          -largest,
          65519,
          65520,
          infinity,
          -infinity,
          std::numeric_limits<double>::quiet_NaN()};
}

// One operand takes every edge value; of two operands, both take every pair. What overflows the
// dtype is infinite in the expectation too, because that is rounded to the dtype.
TEST_P(OpSuite, EdgeValuesPropagate) {
  if (!op().elementwise) GTEST_SKIP() << "for elementwise ops";
  for (const DType dtype : kFloatingDTypes) {
    const std::vector<double> edges = edge_values(dtype);
    const auto n = static_cast<std::int64_t>(edges.size());
    for (OpExample example : op().examples) {
      const std::size_t count = example.operands.size();
      for (OperandSpec& spec : example.operands) spec.sizes = {n};
      const std::size_t variants = count == 3 ? count : 1;
      for (std::size_t variant = 0; variant < variants; ++variant) {
        auto operands = draw_operands(example, dtype, kSeed);
        for (std::size_t i = 0; i < count; ++i) {
          const bool number = example.operands[i].kind == OperandSpec::Kind::number;
          if (!number || (count == 3 && i != variant)) continue;
          operands[i] = tensor_of(edges, count == 2 && i == 0 ? Shape{n, 1} : Shape{n}).to(dtype);
        }
        const Tensor got = example.run(operands);
        const Tensor expected = expected_result(example, operands).to(got.dtype());
        const WorstError worst = worst_error(got, expected);
        const auto at = static_cast<std::size_t>(std::max<std::int64_t>(worst.index, 0));
        EXPECT_LE(worst.roundoffs, op().roundoffs)
            << describe(example, dtype) << ", element " << worst.index << ": expected "
            << expected.to_vector<double>()[at] << ", got " << got.to_vector<double>()[at];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpSuite, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace halfgrad
