// The epilogues of our kernel for products with a small C: bias, relu, relu's mask and row sums.
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include <halfgrad/tests/core/gemm/gemm_small.h>
#include <halfgrad/tests/core/numbers/special_floats.h>

namespace halfgrad {
namespace {

using detail::Activation;
using detail::Epilogue;

bool same_value(double x, double y) {
  return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
}

// Expects each element to be f(i, j), with its sign, or any NaN for NaN.
template <class F>
void expect_elements(const Matrix& actual, const F& f) {
  for (std::int64_t i = 0; i < actual.rows(); ++i) {
    for (std::int64_t j = 0; j < actual.cols(); ++j) {
      ASSERT_PRED2(same_value, actual.get(i, j), f(i, j)) << "at " << i << ", " << j;
    }
  }
}

using SmallProductEpilogueOnCuda = SmallProductTest;
INSTANTIATE_TEST_SUITE_P(Products, SmallProductEpilogueOnCuda,
                         ::testing::ValuesIn(kSmallProductDtypes), GemmTest::name_of);

TEST_P(SmallProductEpilogueOnCuda, AddsABiasOfItsDtypeOrF32) {
  for (const DType dtype : {GetParam().operands, kFloat32}) {
    for (const std::int64_t k : {24, 1500}) {
      for (const MatrixLayout lc : {MatrixLayout::rows, MatrixLayout::columns}) {
        const Matrix a = operand(34, k), b = operand(k, 35), c = result(34, 35, lc);
        const Matrix bias = Matrix(dtype, 1, 35).randomize(3);
        const MatrixOnGpu there(bias);
        const Matrix sum = multiplied(a, b, c, {.bias = {there.view().data, dtype}});
        expect_product(1, a, b, 0, c, &bias, sum);
      }
    }
  }
}

// -2^-40 rounds to -0 in f16, and relu makes 0 of it. The products include inf - inf and 0 * inf.
TEST_P(SmallProductEpilogueOnCuda, ReluIsThatOfTheRoundedSum) {
  Matrix a = operand(20, 24), b = operand(24, 33), bias = Matrix(kFloat32, 1, 33).randomize(3);
  a.set(2, 3, kInf), a.set(3, 4, -kInf), a.set(4, 5, kNaN), b.set(3, 6, 0);
  for (std::int64_t k = 0; k < 24; ++k) a.set(1, k, 0);
  const double specials[] = {kInf, -kInf, kNaN, 0, -0x1p-40, 0x1p-40, -1, 65519, 65520};
  for (std::int64_t j = 0; j < 9; ++j) bias.set(0, j, specials[j]);
  const MatrixOnGpu there(bias);
  for (const bool with_bias : {false, true}) {
    Epilogue epilogue;
    if (with_bias) epilogue.bias = {there.view().data, kFloat32};
    const Matrix sum = multiplied(a, b, result(20, 33), epilogue);
    epilogue.activation = Activation::relu;
    expect_elements(multiplied(a, b, result(20, 33), epilogue),
                    [&](std::int64_t i, std::int64_t j) {
                      const double x = sum.get(i, j);
                      return x > 0 || std::isnan(x) ? x : 0;
                    });
  }
}

TEST_P(SmallProductEpilogueOnCuda, ReluOutputMasksTheGradient) {
  for (const MatrixLayout layout : kLayouts) {
    for (const std::int64_t k : {10, 1500}) {
      Matrix dy = operand(34, k), w = operand(k, 35), y = result(34, 35, layout);
      dy.set(5, 7, kInf), dy.set(6, 8, kNaN);
      const double specials[] = {0, -0.0, kNaN, kInf, -kInf, 0x1p-24, -0x1p-24};
      for (std::int64_t i = 0; i < 34; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) y.set(i, j, specials[j]);
      }
      const MatrixOnGpu there(y);
      const Matrix product = multiplied(dy, w, result(34, 35, layout));
      expect_elements(
          multiplied(dy, w, result(34, 35, layout), {.relu_output = there.view().data}),
          [&](std::int64_t i, std::int64_t j) { return y.get(i, j) <= 0 ? 0 : product.get(i, j); });
    }
  }
}

TEST_P(SmallProductEpilogueOnCuda, RowSumsOfA) {
  for (const std::int64_t m : {1, 10, 33, 70}) {
    for (const std::int64_t k : {1, 100, 3000}) {
      for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::columns}) {
        SCOPED_TRACE(std::to_string(m) + " " + std::to_string(k));
        const Matrix a = operand(m, k, layout), b = operand(k, 65), c = result(m, 65);
        const Matrix ones = Matrix(GetParam().operands, k, 1).fill(1), sums = result(m, 1);
        const MatrixOnGpu there(sums);
        const Matrix product = multiplied(a, b, c, {.row_sums_of_a = there.mutable_view().data});
        EXPECT_EQ(product.bytes(), multiplied(a, b, c).bytes());
        expect_product(1, a, ones, 0, sums, nullptr, there.fetched(sums));
      }
    }
  }
}

}  // namespace
}  // namespace halfgrad
