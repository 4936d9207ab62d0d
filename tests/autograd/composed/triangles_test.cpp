#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/moving.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Matrices made of diagonals, and indices of triangles. Expected values are PyTorch's.
namespace halfgrad {
namespace {

constexpr std::int64_t kFarBelow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kFarAbove = std::numeric_limits<std::int64_t>::max();

using TriangleIndices = TensorsOnDevice;
HALFGRAD_ON_DEVICES(TriangleIndices);
using EmbeddedDiagonals = TensorsOnDevice;
HALFGRAD_ON_DEVICES(EmbeddedDiagonals);

TEST_P(EmbeddedDiagonals, FillMatrices) {
  const Tensor x = elements({1, 2, 3, 4}).reshape({2, 2});
  EXPECT_EQ(diag_embed(x).sizes(), (Shape{2, 2, 2}));
  EXPECT_EQ(elements(diag_embed(x)), (Doubles{1, 0, 0, 2, 3, 0, 0, 4}));
  EXPECT_EQ(elements(diag_embed(x[0], 1)), (Doubles{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(elements(diag_embed(x[0], -1)), (Doubles{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(elements(diag_embed(x, 0, 0, 2)), (Doubles{1, 0, 3, 0, 0, 2, 0, 4}));
  EXPECT_EQ(elements(diag_embed(x[0], 1, 1, 0)), elements(diag_embed(x[0], -1)));
  EXPECT_EQ(elements(diag_embed(x.t())[0]), (Doubles{1, 0, 0, 3})) << "not contiguous";
  EXPECT_EQ(diag_embed(x.slice(0, 0, 0), 2).sizes(), (Shape{0, 4, 4}));
  EXPECT_EQ(diag_embed(x[0].slice(0, 0, 0)).sizes(), (Shape{0, 0}));
  EXPECT_EQ(elements(diag_embed(x[0].slice(0, 0, 0), 1)), Doubles{0});
  EXPECT_EQ(diag_embed(x > 1).dtype(), kBool);
  EXPECT_EQ(diag_embed(x.to(kHalf)).dtype(), kHalf);
  expect_values(flatten(diag_embed(elements({kNan, kInf}))).to(kCPU), {kNan, 0, 0, kInf});
}

TEST_P(EmbeddedDiagonals, OfTheFlattenedTensor) {
  const Tensor x = elements({1, 2, 3, 4}, kInt).reshape({2, 2});
  EXPECT_EQ(diagflat(x).sizes(), (Shape{4, 4}));
  EXPECT_EQ(elements(diagonal(diagflat(x.t()))), (Doubles{1, 3, 2, 4}));
  EXPECT_EQ(elements(diagflat(x[0], -1)), (Doubles{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(elements(diagflat(x[1][1])), Doubles{4});
  EXPECT_EQ(diagflat(x).dtype(), kInt);
  EXPECT_EQ(diagflat(zeros({0, 3})).sizes(), (Shape{0, 0}));
}

TEST_P(EmbeddedDiagonals, RefuseInvalidDimensions) {
  const Tensor x = zeros({2, 2});
  EXPECT_EQ(message_of([&] { diag_embed(x, 0, 1, -2); }),
            "diag_embed: expected a tensor [..., n] and two dimensions, got [2, 2], 1 and -2");
  EXPECT_THROW(diag_embed(x, 0, 0, 3), std::out_of_range);
  EXPECT_THROW(diag_embed(sum(x)), std::out_of_range);
  EXPECT_THROW(diag_embed(sum(x), 0, 0, -1), std::invalid_argument);
  EXPECT_THROW(diag_embed(x, kFarAbove), std::invalid_argument);
  EXPECT_THROW(diag_embed(x, kFarBelow), std::invalid_argument);
  EXPECT_THROW(diagflat(x, kFarBelow), std::invalid_argument);
}

TEST_P(EmbeddedDiagonals, HaveTheGradientsOfFiniteDifferences) {
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{diag_embed(in[0]), diag_embed(in[0], 1, 0, 2),
                               diag_embed(in[0].t(), -2, -1, 0), diagflat(in[0], 1)};
  };
  const Tensor x = random_tensor({2, 3}, -2, 2, {.seed = 6}).to(device()).requires_grad_();
  for (const Tensor& y : f({x})) EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
}

TEST_P(TriangleIndices, InRowMajorOrder) {
  const auto lower = [&](std::int64_t row, std::int64_t col, std::int64_t offset = 0) {
    return elements(tril_indices(row, col, offset, {.device = device()}));
  };
  const auto upper = [&](std::int64_t row, std::int64_t col, std::int64_t offset = 0) {
    return elements(triu_indices(row, col, offset, {.device = device()}));
  };
  EXPECT_EQ(lower(3, 3), (Doubles{0, 1, 1, 2, 2, 2, 0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(lower(3, 2, -1), (Doubles{1, 2, 2, 0, 0, 1}));
  EXPECT_EQ(lower(2, 3, 1), (Doubles{0, 0, 1, 1, 1, 0, 1, 0, 1, 2}));
  EXPECT_EQ(upper(3, 3), (Doubles{0, 0, 0, 1, 1, 2, 0, 1, 2, 1, 2, 2}));
  EXPECT_EQ(upper(3, 2, -1), (Doubles{0, 0, 1, 1, 2, 0, 1, 0, 1, 1}));
  EXPECT_EQ(upper(2, 3, 2), (Doubles{0, 2}));
}

// Offsets far outside the matrix select all of its elements or none.
TEST_P(TriangleIndices, AreThoseOfTheTrianglesElements) {
  for (const std::int64_t row : {0, 1, 2, 4}) {
    for (const std::int64_t col : {0, 1, 3}) {
      const Tensor matrix = ones({row, col}, in(kFloat));
      for (const std::int64_t offset : {-5, -2, -1, 0, 1, 2, 5}) {
        const Tensor lower = tril_indices(row, col, offset, {.device = device()});
        const Tensor upper = triu_indices(row, col, offset, {.device = device()});
        EXPECT_TRUE(equal(lower, nonzero(tril(matrix, offset)).t())) << row << col << offset;
        EXPECT_TRUE(equal(upper, nonzero(triu(matrix, offset)).t())) << row << col << offset;
      }
      EXPECT_EQ(tril_indices(row, col, kFarAbove).sizes(), (Shape{2, row * col}));
      EXPECT_EQ(triu_indices(row, col, kFarBelow).sizes(), (Shape{2, row * col}));
      EXPECT_EQ(tril_indices(row, col, kFarBelow).sizes(), (Shape{2, 0}));
      EXPECT_EQ(triu_indices(row, col, kFarAbove).sizes(), (Shape{2, 0}));
    }
  }
}

TEST_P(TriangleIndices, HaveTheDtypeOfTheOptions) {
  EXPECT_EQ(tril_indices(2, 2).dtype(), kLong);
  EXPECT_EQ(tril_indices(2, 2, 0, kInt).dtype(), kInt);
  EXPECT_EQ(triu_indices(2, 2, 0, kInt).dtype(), kInt);
  EXPECT_EQ(triu_indices(2, 2, 0, TensorOptions(kFloat).device(device())).dtype(), kFloat);
  EXPECT_EQ(triu_indices(2, 2, 1, device()).device().type(), device().type());
  EXPECT_EQ(message_of([] { tril_indices(-1, 2); }),
            "tril_indices: expected sizes >= 0 of a matrix, got -1 and 2");
  EXPECT_THROW(triu_indices(2, -1), std::invalid_argument);
  EXPECT_THROW(triu_indices(kFarAbove, kFarAbove), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
