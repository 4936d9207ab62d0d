#include "op_suite.h"

#include <cmath>
#include <limits>

#include <halfgrad/testing/ulp.h>

// Strides, empty operands and extreme values. Elementwise ops must give the same bits for all
// strides; other ops, which may then sum in another order, values within their roundoffs.
namespace halfgrad {
namespace {

using ElementwiseOp = OpTest;
using OtherOp = OpTest;

Tensor transposed(const Tensor& x) {
  return x.dim() < 2 ? x : Tensor(x.array().transpose(0, -1).contiguous().transpose(0, -1));
}

Tensor every_second_element(const Tensor& x) {
  if (x.dim() == 0) return x;
  Shape sizes = x.sizes();
  sizes[sizes.size() - 1] *= 2;
  const Array spaced =
      Array::full(sizes, 1, x.dtype(), x.device()).slice(-1, 0, sizes[sizes.size() - 1], 2);
  spaced.copy_(x.array());
  return Tensor(spaced);
}

Tensor with_repeated_rows(const Tensor& x) {
  return x.dim() < 2 ? x : Tensor(x.array().slice(0, 0, 1).expand(x.sizes()));
}

struct LaidOut {
  std::vector<Tensor> strided;
  std::vector<Tensor> contiguous;  // the same elements
};

LaidOut laid_out(const std::vector<Tensor>& operands, Tensor (*layout)(const Tensor&)) {
  LaidOut result;
  for (const Tensor& operand : operands) {
    result.strided.push_back(layout(operand));
    result.contiguous.emplace_back(result.strided.back().array().clone());
  }
  return result;
}

TEST_P(ElementwiseOp, StridesDoNotChangeBits) {
  for (const OpExample& example : op().examples) {
    for (const auto layout : {transposed, every_second_element, with_repeated_rows}) {
      for (const DType dtype : {kFloat32, kFloat16}) {
        SCOPED_TRACE(describe(example, dtype));
        const auto [strided, contiguous] = laid_out(drawn(example, dtype), layout);
        expect_same_bits(run_and_differentiate(op(), example, strided),
                         run_and_differentiate(op(), example, contiguous));
      }
    }
  }
}

TEST_P(OtherOp, StridesDoNotChangeValues) {
  for (const OpExample& example : op().examples) {
    for (const auto layout : {transposed, every_second_element, with_repeated_rows}) {
      for (const DType dtype : {kFloat64, kFloat16}) {
        SCOPED_TRACE(describe(example, dtype));
        const auto [strided, contiguous] = laid_out(drawn(example, dtype), layout);
        const auto got = run_and_differentiate(op(), example, strided);
        const auto expected = run_and_differentiate(op(), example, contiguous);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_LE(worst_error(got[i], expected[i]).roundoffs, 2 * op().roundoffs)
              << "output " << i;
        }
      }
    }
  }
}

TEST_P(ElementwiseOp, EmptyOperandsGiveEmptyResults) {
  for (OpExample example : op().examples) {
    for (OperandSpec& spec : example.operands) spec.sizes = {0, 3};
    for (const Tensor& output : run_and_differentiate(op(), example, drawn(example, kFloat16))) {
      EXPECT_EQ(output.sizes(), (Shape{0, 3})) << example.name;
    }
  }
}

// Dimension 0 gets size 0 in every operand where it is as large as in the first one. An op without
// a value for that, such as amax, must throw.
TEST_P(OtherOp, EmptyOperandsGiveGradientsOfTheirShapeOrAnError) {
  for (OpExample example : op().examples) {
    SCOPED_TRACE(example.name);
    const Shape first = example.operands[0].sizes;
    if (first.size() == 0) continue;
    for (OperandSpec& spec : example.operands) {
      if (spec.sizes.size() > 0 && spec.sizes[0] == first[0]) spec.sizes[0] = 0;
    }
    const auto operands = drawn(example, kFloat32);
    try {
      const auto outputs = run_and_differentiate(op(), example, operands);
      std::size_t next = 1;
      for (std::size_t i = 0; i < operands.size() && next < outputs.size(); ++i) {
        if (!example.operands[i].differentiable || !operands[i].is_floating_point()) continue;
        EXPECT_EQ(outputs[next++].sizes(), operands[i].sizes()) << "operand " << i;
      }
    } catch (const std::logic_error& error) {  // invalid_argument or out_of_range
      EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
    }
  }
}

TEST_P(ElementwiseOp, OneElementIsAllowed) {
  for (const Shape& sizes : {Shape{}, Shape{1}}) {
    for (OpExample example : op().examples) {
      for (OperandSpec& spec : example.operands) spec.sizes = sizes;
      const auto operands = drawn(example, kFloat32);
      const auto got = run_and_differentiate(op(), example, operands);
      EXPECT_LE(worst_error(got[0], expected_result(example, operands)).roundoffs, op().roundoffs);
      EXPECT_EQ(got[0].sizes(), sizes);
    }
  }
}

/// Zeros, the ends of the dtype's range, infinities and NaN.
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

// One operand takes every edge value, two operands take every pair. The expected result is rounded
// to the dtype, so values that overflow it are infinite there too.
TEST_P(ElementwiseOp, EdgeValuesPropagate) {
  for (const DType dtype : kFloatingDTypes) {
    const std::vector<double> edges = edge_values(dtype);
    const auto n = static_cast<std::int64_t>(edges.size());
    for (OpExample example : op().examples) {
      const std::size_t count = example.operands.size();
      for (OperandSpec& spec : example.operands) spec.sizes = {n};
      const std::size_t variants = count == 3 ? count : 1;
      for (std::size_t variant = 0; variant < variants; ++variant) {
        auto operands = drawn(example, dtype);
        for (std::size_t i = 0; i < count; ++i) {
          const bool number = example.operands[i].kind == OperandSpec::Kind::number;
          if (!number || (count == 3 && i != variant)) continue;
          const Shape sizes = count == 2 && i == 0 ? Shape{n, 1} : Shape{n};
          operands[i] = tensor_of(edges, sizes).to(dtype).to(device());
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

// One element of one operand is NaN or infinite. An element that is not finite in the reference is
// not finite here, though perhaps NaN instead of an infinity or an infinity instead of NaN; all
// other elements stay within the op's roundoffs.
TEST_P(OtherOp, NonFiniteValuesPropagate) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : kFloatingDTypes) {
    for (const OpExample& example : op().examples) {
      for (std::size_t k = 0; k < example.operands.size(); ++k) {
        if (example.operands[k].kind != OperandSpec::Kind::number) continue;
        for (const double value : {std::nan(""), infinity, -infinity}) {
          SCOPED_TRACE(describe(example, dtype) + ", operand " + std::to_string(k) + " holds " +
                       std::to_string(value));
          auto operands = drawn(example, dtype);
          operands[k].flatten().select(0, operands[k].numel() / 2).fill_(value);
          const Tensor result = example.run(operands);
          const auto got = result.to_vector<double>();
          const auto expected = expected_result(example, operands).to_vector<double>();
          ASSERT_EQ(got.size(), expected.size());
          for (std::size_t i = 0; i < got.size(); ++i) {
            const bool non_finite = !std::isfinite(got[i]) && !std::isfinite(expected[i]) &&
                                    (std::isnan(got[i]) || std::isnan(expected[i]));
            EXPECT_TRUE(non_finite ||
                        roundoffs_between(got[i], expected[i], result.dtype()) <= op().roundoffs)
                << "element " << i << ": expected " << expected[i] << ", got " << got[i];
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, ElementwiseOp, on_devices(ops_where(true)), name_of);
INSTANTIATE_TEST_SUITE_P(AllOps, OtherOp, on_devices(ops_where(false)), name_of);

}  // namespace
}  // namespace halfgrad
