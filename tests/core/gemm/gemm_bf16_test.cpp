// bf16 products by the processor's dot product: the bits of the float kernel.
#include <halfgrad/core/gemm.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/gemm/gemm_bf16.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>

namespace halfgrad {
namespace {

class Bf16Dot : public ::testing::Test {
 protected:
  void SetUp() override {
    backends::cpu::set_allow_amx(false);
    if (!detail::uses_bf16_dot()) {
      GTEST_SKIP() << "not a processor of AMD with AVX512_BF16, or HALFGRAD_GEMM is " HALFGRAD_GEMM;
    }
  }
  void TearDown() override {
    backends::cpu::set_allow_bf16_dot(true);
    backends::cpu::set_allow_amx(true);
  }
};

struct Case {
  std::int64_t m, n, k;
  MatrixLayout a = MatrixLayout::rows, b = MatrixLayout::rows;
  double alpha = 1, beta = 0;
  DType c = kFloat32;
  bool bias = false;
};

void expect_bits_of_the_float_kernel(const Case& o) {
  SCOPED_TRACE(std::to_string(o.m) + " x " + std::to_string(o.n) + " x " + std::to_string(o.k) +
               ", layouts " + std::to_string(static_cast<int>(o.a)) + " and " +
               std::to_string(static_cast<int>(o.b)));
  const Matrix a = Matrix(kBFloat16, o.m, o.k, o.a).randomize(1),
               b = Matrix(kBFloat16, o.k, o.n, o.b).randomize(2),
               bias = Matrix(kFloat32, 1, o.n).randomize(3);
  Matrix actual = Matrix(o.c, o.m, o.n).randomize(4), expected = actual;
  const RowBias row = o.bias ? RowBias{bias.view().data, kFloat32} : RowBias{};
  gemm(o.alpha, a.view(), b.view(), o.beta, actual.view(), row);
  backends::cpu::set_allow_bf16_dot(false);
  gemm(o.alpha, a.view(), b.view(), o.beta, expected.view(), row);
  backends::cpu::set_allow_bf16_dot(true);
  EXPECT_EQ(actual.bytes(), expected.bytes());
}

// Sizes around strips of 12 rows and 32 columns, squares of 32 elements of the depth, pairs, and
// blocks of 288, some of them odd.
TEST_F(Bf16Dot, HasTheBitsOfTheFloatKernel) {
  for (const std::int64_t k : {0, 1, 2, 3, 31, 32, 33, 34, 35, 66, 288, 289, 784, 1000}) {
    for (const MatrixLayout a : kLayouts) {
      for (const MatrixLayout b : kLayouts) expect_bits_of_the_float_kernel({13, 33, k, a, b});
    }
  }
  for (const std::int64_t m : {1, 2, 11, 12, 24, 100, 150, 258, 301}) {
    for (const std::int64_t n : {1, 10, 31, 32, 64, 129}) {
      expect_bits_of_the_float_kernel({m, n, 77});
      expect_bits_of_the_float_kernel({m, n, 64, MatrixLayout::columns, MatrixLayout::rows});
      expect_bits_of_the_float_kernel({m, n, 64, MatrixLayout::rows, MatrixLayout::columns});
    }
  }
}

TEST_F(Bf16Dot, HasTheEpilogueOfTheFloatKernel) {
  for (const DType c : {kFloat32, kBFloat16}) {
    for (const bool bias : {false, true}) {
      for (const double alpha : {1.0, 0.3}) {
        for (const double beta : {0.0, 1.0, 0.7}) {
          expect_bits_of_the_float_kernel(
              {25, 45, 600, MatrixLayout::rows, MatrixLayout::columns, alpha, beta, c, bias});
        }
      }
    }
  }
}

TEST_F(Bf16Dot, PassesInfAndNaN) {
  for (const double special : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    Matrix a = Matrix(kBFloat16, 3, 5).fill(1), b = Matrix(kBFloat16, 5, 2).fill(1);
    a.set(1, 3, special);
    b.set(2, 1, -INFINITY);
    Matrix c(kFloat32, 3, 2);
    gemm(1, a.view(), b.view(), 0, c.view());
    EXPECT_EQ(c.get(0, 0), 5);
    EXPECT_EQ(c.get(0, 1), -INFINITY);
    EXPECT_EQ(std::isnan(c.get(1, 0)), std::isnan(special));
    EXPECT_TRUE(std::isnan(c.get(1, 1)));  // inf - inf, or NaN
  }
}

// The documented difference. A single column is multiplied in float32, which keeps them.
TEST_F(Bf16Dot, CountsSubnormalNumbersAsZero) {
  const double subnormal = 0x1p-130;
  const Matrix a = Matrix(kBFloat16, 2, 2).fill(subnormal),
               b = Matrix(kBFloat16, 2, 2).fill(0x1p10);
  Matrix c(kFloat32, 2, 2);
  gemm(1, a.view(), b.view(), 0, c.view());
  EXPECT_EQ(c.get(0, 0), 0);
  backends::cpu::set_allow_bf16_dot(false);
  gemm(1, a.view(), b.view(), 0, c.view());
  EXPECT_EQ(c.get(0, 0), 2 * subnormal * 0x1p10);
}

}  // namespace
}  // namespace halfgrad
