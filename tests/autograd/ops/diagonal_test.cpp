#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

using Diagonals = TensorsOnDevice;
HALFGRAD_ON_DEVICES(Diagonals);

// Returns a diagonal of the matrix whose elements are 10 * row + column.
Doubles diagonal_by_hand(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  Doubles expected;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (j - i == offset) expected.push_back(static_cast<double>(10 * i + j));
    }
  }
  return expected;
}

Tensor numbered(std::int64_t rows, std::int64_t columns, Device device) {
  return (unsqueeze(10 * arange(rows), 1) + arange(columns)).to(device);
}

TEST_P(Diagonals, AreRightForMatricesOfEveryShape) {
  for (const auto& [rows, columns] : {std::pair(3, 3), {2, 4}, {4, 2}, {1, 1}, {0, 2}, {2, 0}}) {
    const Tensor x = numbered(rows, columns, device());
    for (std::int64_t offset = -5; offset <= 5; ++offset) {
      const Doubles expected = diagonal_by_hand(rows, columns, offset);
      EXPECT_EQ(elements(diagonal(x, offset)), expected);
      EXPECT_EQ(elements(diagonal(x, -offset, 1, 0)), expected);
      EXPECT_EQ(elements(diagonal(x.t(), -offset)), expected);
      EXPECT_EQ(elements(diag(x, offset)), expected);
    }
    EXPECT_EQ(diagonal(x, std::numeric_limits<std::int64_t>::min()).numel(), 0);
    EXPECT_EQ(diagonal(x, std::numeric_limits<std::int64_t>::max()).numel(), 0);
  }
}

TEST_P(Diagonals, BecomeTheLastDimension) {
  const Tensor x = arange(2 * 3 * 4 * 3).reshape({2, 3, 4, 3}).to(device());
  const Tensor y = diagonal(x, -1, -1, 1);  // index of dim 1 = index of dim 3 - 1
  EXPECT_EQ(y.sizes(), (Shape{2, 4, 2}));
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t k = 0; k < 2; ++k) {
        EXPECT_EQ(y[i][j][k].item(), x[i][k][j][k + 1].item());
      }
    }
  }
}

TEST_P(Diagonals, AreViewsAndDiagCopies) {
  const Tensor x = zeros({3, 4}, in(kHalf));
  x.slice(1, 1).diagonal(1).fill_(7);
  EXPECT_EQ(elements(x), (Doubles{0, 0, 7, 0, 0, 0, 0, 7, 0, 0, 0, 0}));
  x.diag(2).zero_();
  EXPECT_EQ(x.sum().item(), 14);
  const Tensor leaf = zeros({2, 2}, in(kDouble)).requires_grad_();
  const Tensor y = leaf * 1;
  y.diagonal().mul_(3).add_(leaf[0]);
  y.sum().backward();
  EXPECT_EQ(elements(leaf.grad()), (Doubles{4, 2, 1, 3}));
}

TEST_P(Diagonals, OfAVectorAreAMatrix) {
  for (const DType dtype : {kDouble, kHalf, kBFloat16, kLong}) {
    const Tensor x = elements({1, 2, 3}, dtype);
    EXPECT_EQ(diag(x).dtype(), dtype);
    EXPECT_EQ(elements(diag(x)), (Doubles{1, 0, 0, 0, 2, 0, 0, 0, 3}));
    EXPECT_EQ(elements(diag(x.slice(0, 0, 3, 2), 1)), (Doubles{0, 1, 0, 0, 0, 3, 0, 0, 0}));
    EXPECT_EQ(elements(diag(x.slice(0, 1), -1)), (Doubles{0, 0, 0, 2, 0, 0, 0, 3, 0}));
  }
  EXPECT_EQ(diag(zeros({0}, in(kFloat))).sizes(), (Shape{0, 0}));
  EXPECT_EQ(elements(diag(zeros({0}, in(kFloat)), -2)), Doubles(4, 0));
}

TEST_P(Diagonals, SumToTheTrace) {
  const Tensor x = numbered(2, 3, device());
  EXPECT_EQ(trace(x).item(), 11);
  EXPECT_EQ(trace(x.to(kInt)).dtype(), kLong);
  EXPECT_EQ(trace(x.to(kHalf)).dtype(), kHalf);
  EXPECT_EQ(trace(zeros({0, 3}, in(kFloat))).item(), 0);
}

TEST_P(Diagonals, HaveTheGradientsOfFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{diagonal(in[0], 1, 2, 0),    diagonal(in[0].transpose(0, 1), -1),
                               diag(in[0][1], 1),           diag(in[0][1][2], -2),
                               trace(in[0].select(2, 1)),   diagonal(in[0], 9),
                               diag(in[0].select(1, 0).t())};
  };
  const Tensor x = random_tensor({2, 3, 4}, -2, 2, {.seed = 1}).to(device()).requires_grad_();
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(
      [](const std::vector<Tensor>& in) {
        return square(diagonal(in[0], 1, 2, 0)).sum() + square(diag(in[0][1][2])).sum();
      },
      {x}));
}

// The elements of an expanded tensor have gradients of their own.
TEST_P(Diagonals, OfAnExpandedTensorHaveOneGradientEach) {
  const Tensor x = ones({1}, in(kDouble)).expand({2, 2}).detach().requires_grad_();
  diagonal(x).sum().backward();
  EXPECT_EQ(elements(x.grad()), (Doubles{1, 0, 0, 1}));
}

TEST_P(Diagonals, RefuseOtherDimensions) {
  const Tensor x = zeros({2, 3}, in(kFloat));
  EXPECT_EQ(message_of([&] { diagonal(x, 0, 1, -1); }),
            "diagonal: expected two dimensions, got 1 and -1 of shape [2, 3]");
  EXPECT_THROW(diagonal(x, 0, 0, 2), std::out_of_range);
  EXPECT_THROW(diagonal(x[0]), std::out_of_range);
  EXPECT_THROW(diagonal(x[0][0]), std::out_of_range);
  EXPECT_EQ(message_of([&] { diag(x[0][0]); }),
            "diag: expected a vector or a matrix, got shape []");
  EXPECT_THROW(diag(x.unsqueeze(0)), std::invalid_argument);
  for (const std::int64_t far : {INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(message_of([&] { diag(x[0], far); }),
              "diag: expected a diagonal of a matrix, got " + std::to_string(far));
  }
  EXPECT_EQ(message_of([&] { trace(x[0]); }), "trace: expected a matrix, got shape [3]");
}

}  // namespace
}  // namespace halfgrad
