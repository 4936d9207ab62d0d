// Products of one 16-bit row, beside those of a batch of rows by AMX.
#include <halfgrad/core/gemm.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/gemm/gemm_amx.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>

namespace halfgrad {
namespace {

class AmxRow : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!detail::uses_amx(GetParam())) {
      GTEST_SKIP() << "this processor has no AMX, the system does not let this process use it, or "
                      "HALFGRAD_GEMM is " HALFGRAD_GEMM;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, AmxRow, ::testing::Values(kFloat16, kBFloat16),
                         [](const auto& info) { return std::string(name(info.param)); });

// Values whose products are near the smallest normal number, are near the largest, or are special;
// or, with seed 3, subnormal numbers of bf16 for A.
void randomize_widely(Matrix& matrix, unsigned seed, bool is_a) {
  std::mt19937 engine(seed);
  const int least[] = {-72, 58, -8, is_a ? -136 : 0}, special = 97;
  const double specials[] = {INFINITY, -INFINITY, NAN, 0, -0.0};
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    for (std::int64_t j = 0; j < matrix.cols(); ++j) {
      const int exponent = least[seed] + static_cast<int>(engine() % 12);
      const double mantissa = 1 + static_cast<double>(engine() % 2048) / 2048;
      matrix.set(i, j, std::ldexp(engine() % 2 == 0 ? mantissa : -mantissa, exponent));
      if (seed == 2 && engine() % special == 0) matrix.set(i, j, specials[engine() % 5]);
    }
  }
}

void expect_row(const Matrix& batch, std::int64_t row, const Matrix& one) {
  for (std::int64_t j = 0; j < one.cols(); ++j) {
    const double expected = batch.get(row, j), value = one.get(0, j);
    if (std::isnan(expected) && std::isnan(value)) continue;
    ASSERT_EQ(value, expected) << "at column " << j;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << "at column " << j;
  }
}

// Sizes around steps of 32, vectors of 64 columns, and blocks of 1,024 columns.
TEST_P(AmxRow, HasTheBitsOfABatch) {
  for (const std::int64_t k : {1, 31, 32, 33, 100, 700}) {
    for (const std::int64_t n : {2, 31, 32, 65, 130, 1024, 1300}) {
      for (unsigned seed = 0; seed < 4; ++seed) {
        const MatrixLayout layout = kLayouts[(k + n + seed) % 5];
        SCOPED_TRACE("k = " + std::to_string(k) + ", n = " + std::to_string(n) + ", seed " +
                     std::to_string(seed) + ", layout " + std::to_string(static_cast<int>(layout)));
        Matrix a(GetParam(), 2, k, layout), b(GetParam(), k, n, layout);
        randomize_widely(a, seed, true);
        randomize_widely(b, seed, false);
        Matrix batch = Matrix(kFloat32, 2, n).fill(0x1p-120), one = Matrix(kFloat32, 1, n);
        const double alpha = seed == 0 ? 0.75 : 1, beta = seed == 0 ? 0.5 : 0;
        one.fill(0x1p-120);
        gemm(alpha, a.view(), b.view(), beta, batch.view());
        MatrixView row = a.view();
        row.rows = 1;
        gemm(alpha, row, b.view(), beta, one.view());
        expect_row(batch, 0, one);
      }
    }
  }
}

// A column whose A is contiguous along columns is a row of the transposed product.
TEST_P(AmxRow, HasThemAsAColumn) {
  const Matrix a = Matrix(GetParam(), 300, 100, MatrixLayout::columns).randomize(1),
               b = Matrix(GetParam(), 100, 2).randomize(2);
  Matrix batch(kFloat32, 300, 2), one(kFloat32, 300, 1);
  gemm(1, a.view(), b.view(), 0, batch.view());
  MatrixView column = b.view();
  column.cols = 1;
  gemm(1, a.view(), column, 0, one.view());
  for (std::int64_t i = 0; i < 300; ++i) {
    ASSERT_EQ(one.get(i, 0), batch.get(i, 0)) << "at row " << i;
  }
}

TEST_P(AmxRow, LeavesSubnormalNumbersToTheCaller) {
  const Matrix a = Matrix(GetParam(), 1, 40).fill(1), b = Matrix(GetParam(), 40, 40).fill(1);
  Matrix c(kFloat32, 1, 40);
  gemm(1, a.view(), b.view(), 0, c.view());
  volatile float small = 0x1p-130F;
  const float twice = small * 2;
  EXPECT_EQ(twice, 0x1p-129F);
  c.fill(0x1p-130);
  gemm(0x1p-130, a.view(), b.view(), 0.5, c.view());  // also in its own epilogue
  EXPECT_EQ(c.get(0, 7), 40 * 0x1p-130 + 0x1p-131);
}

}  // namespace
}  // namespace halfgrad
