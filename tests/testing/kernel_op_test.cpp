#include <halfgrad/testing/kernel_op.h>

#include <cmath>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

namespace halfgrad::testing {
namespace {

Values halves(const Shape& sizes) {
  return {sizes, std::vector<double>(static_cast<std::size_t>(numel(sizes)), 0.5)};
}

// References do not check dims and indices, so dims_of() must.
TEST(KernelOp, OperandsMustHaveDimsForWhichTheOpIsDefined) {
  const KernelOp amax = kernel_op("amax");
  EXPECT_EQ(dims_of(amax, {halves({3, 5})}), (Dims{3, 1, 5}));
  EXPECT_EQ(dims_of(kernel_op("sum"), {halves({3, 0})}).k, 0) << "an empty sum is 0";
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              dims_of(amax, {halves({3, 0})});
            }),
            "amax: expected m, n and k of at least 0, 0 and 1, got 3, 0 and 0");
}

TEST(KernelOp, IndicesMustBeWholeAndWithinRange) {
  const std::vector<double> wrong = {1e8, 4, -1, -100, 0.5, std::nan("")};
  const auto expect_only_0_to_3 = [&](const char* name, std::vector<Values> operands) {
    const KernelOp op = kernel_op(name);
    for (const double right : {0, 3}) {
      operands[1].data[1] = right;
      EXPECT_NO_THROW(dims_of(op, operands)) << name << ' ' << right;
    }
    for (const double x : wrong) {
      operands[1].data[1] = x;
      EXPECT_THROW(dims_of(op, operands), std::invalid_argument) << name << ' ' << x;
    }
  };
  const Values three{{3}, {0, 0, 0}}, two_by_three{{2, 3}, std::vector<double>(6)};
  expect_only_0_to_3("cross_entropy", {halves({3, 4}), three});
  expect_only_0_to_3("nll_loss", {halves({3, 4}), three});
  expect_only_0_to_3("embedding", {halves({4, 2}), three});
  expect_only_0_to_3("index_select", {halves({4, 2}), three});
  expect_only_0_to_3("gather", {halves({2, 4}), two_by_three});
  expect_only_0_to_3("scatter_add", {halves({2, 4}), two_by_three, halves({2, 3})});
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              dims_of(kernel_op("embedding"), {halves({4, 2}), {{2}, {1, -100}}});
            }),
            "embedding: expected whole numbers from 0 to 3 in operand 1, got -100");
}

}  // namespace
}  // namespace halfgrad::testing
