// Products of 16-bit matrices by AMX, bit by bit beside a model of its instruction.
#include <halfgrad/core/gemm.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/gemm/gemm_amx.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>

namespace halfgrad {
namespace {

class Amx : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!detail::uses_amx(GetParam())) {
      GTEST_SKIP() << "this processor has no AMX, the system does not let this process use it, or "
                      "HALFGRAD_GEMM is " HALFGRAD_GEMM;
    }
  }
  void TearDown() override {
    backends::cpu::set_allow_amx(true);
    backends::cpu::set_allow_bf16_dot(true);
  }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, Amx, ::testing::Values(kFloat16, kBFloat16),
                         [](const auto& info) { return std::string(name(info.param)); });

// A row of A or a column of B: the bf16 values whose sum each value is.
struct Parts {
  std::vector<float> high, low;
};

// Splits an fp16 value into two bf16 values, by arithmetic. Neither is 0.
void split(double x, Parts& to) {
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(x), &exponent);  // [1/2, 1), or 0
  double high = std::floor(mantissa * 256) / 256;
  if (x != 0 && high == mantissa) high -= high == 0.5 ? 1.0 / 512 : 1.0 / 256;
  high = std::copysign(std::ldexp(high, exponent), x);
  to.high.push_back(static_cast<float>(high));
  to.low.push_back(static_cast<float>(x - high));
}

template <class Get>
Parts parts_of(DType dtype, std::int64_t depth, const Get& get) {
  Parts parts;
  for (std::int64_t k = 0; k < depth; ++k) {
    if (dtype == kFloat16) {
      split(get(k), parts);
    } else {
      parts.high.push_back(static_cast<float>(get(k)));
    }
  }
  return parts;
}

// The sum of products of up to 32 elements in the order of TDPBF16PS.
float add_products(float sum, const std::vector<float>& a, const std::vector<float>& b,
                   std::size_t first) {
  float sums[2] = {0, 0};
  for (std::size_t k = first; k < std::min(first + 32, a.size()); ++k) {
    sums[k % 2] = std::fma(a[k], b[k], sums[k % 2]);
  }
  return sum + (sums[0] + sums[1]);
}

float model(const Parts& a, const Parts& b) {
  float sum = 0;
  for (std::size_t k = 0; k < a.high.size(); k += 32) {
    sum = add_products(sum, a.high, b.high, k);
    if (a.low.empty()) continue;
    sum = add_products(sum, a.high, b.low, k);
    sum = add_products(sum, a.low, b.low, k);
    sum = add_products(sum, a.low, b.high, k);
  }
  return sum;
}

void expect_bits_of_the_model(const Matrix& a, const Matrix& b) {
  SCOPED_TRACE(std::to_string(a.rows()) + " x " + std::to_string(b.cols()) + " x " +
               std::to_string(a.cols()));
  Matrix c(kFloat32, a.rows(), b.cols());
  gemm(1, a.view(), b.view(), 0, c.view());
  std::vector<Parts> rows, columns;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    rows.push_back(parts_of(a.dtype(), a.cols(), [&](std::int64_t k) { return a.get(i, k); }));
  }
  for (std::int64_t j = 0; j < b.cols(); ++j) {
    columns.push_back(parts_of(a.dtype(), a.cols(), [&](std::int64_t k) { return b.get(k, j); }));
  }
  for (std::int64_t i = 0; i < c.rows(); ++i) {
    for (std::int64_t j = 0; j < c.cols(); ++j) {
      const float expected = model(rows[std::size_t(i)], columns[std::size_t(j)]);
      ASSERT_EQ(c.get(i, j), static_cast<double>(expected)) << "at " << i << ", " << j;
    }
  }
}

// Sizes around tiles of 16, strips and steps of 32, blocks of 128 rows, and one or more rows of
// tiles.
TEST_P(Amx, HasTheBitsOfItsInstruction) {
  for (const std::int64_t k : {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100}) {
    for (const MatrixLayout a : kLayouts) {
      for (const MatrixLayout b : kLayouts) {
        expect_bits_of_the_model(Matrix(GetParam(), 19, k, a).randomize(1),
                                 Matrix(GetParam(), k, 35, b).randomize(2));
      }
    }
  }
  expect_bits_of_the_model(Matrix(GetParam(), 450, 2100).randomize(5),
                           Matrix(GetParam(), 2100, 40).randomize(6));  // few rows fit in a cache
  for (const std::int64_t m : {1, 2, 15, 16, 17, 32, 33, 143, 144, 145, 301, 500}) {
    for (const std::int64_t n : {2, 16, 17, 32, 33, 150}) {
      expect_bits_of_the_model(Matrix(GetParam(), m, 40).randomize(3),
                               Matrix(GetParam(), 40, n).randomize(4));
    }
  }
}

TEST_P(Amx, HasTheEpilogueOfTheFloatKernel) {
  const Matrix a = Matrix(GetParam(), 37, 100).randomize(1),
               b = Matrix(GetParam(), 100, 45, MatrixLayout::columns).randomize(2),
               bias = Matrix(kFloat32, 1, 45).randomize(3);
  for (const DType c : {kFloat32, GetParam()}) {
    for (const MatrixLayout layout : kLayouts) {
      for (const bool has_bias : {false, true}) {
        for (const double alpha : {1.0, -0.3}) {
          for (const double beta : {0.0, 1.0, 0.7}) {
            const Matrix before = Matrix(c, 37, 45, layout).randomize(4);
            Matrix after = before;
            gemm(alpha, a.view(), b.view(), beta, after.view(),
                 has_bias ? RowBias{bias.view().data, kFloat32} : RowBias{});
            expect_product(alpha, a, b, beta, before, has_bias ? &bias : nullptr, after);
          }
        }
      }
    }
  }
}

TEST_P(Amx, DoesNotReadCIfBetaIsZero) {
  const Matrix a = Matrix(GetParam(), 20, 20).fill(1), b = Matrix(GetParam(), 20, 20).fill(1);
  for (const double alpha : {1.0, 0.5}) {
    Matrix c = Matrix(kFloat32, 20, 20).fill(NAN);
    gemm(alpha, a.view(), b.view(), 0, c.view());
    EXPECT_EQ(c.get(3, 7), 20 * alpha);
  }
}

// Every value times 1, and every value times a value of full length.
TEST(AmxFloat16, MultipliesEveryValueExactly) {
  if (!detail::uses_amx(kFloat16)) GTEST_SKIP() << "no AMX here";
  constexpr int kCount = 1 << 16;
  Matrix values(kFloat16, kCount, 1), factors(kFloat16, 1, 3);
  for (int i = 0; i < kCount; ++i) {
    values.set(i, 0, static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(i))));
  }
  const double factor[] = {1, -1 - 0x1p-10, 0x1p-24};
  for (int j = 0; j < 3; ++j) factors.set(0, j, factor[j]);
  Matrix products(kFloat32, kCount, 3);
  gemm(1, values.view(), factors.view(), 0, products.view());
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double expected = values.get(i, 0) * factors.get(0, j);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(products.get(i, j))) << i;
      } else {
        ASSERT_EQ(products.get(i, j), expected) << i << " times " << factor[j];
      }
    }
  }
}

// Infinity times each finite value is infinity with the product's sign, and NaN for 0.
TEST_P(Amx, PassesInfAndNaN) {
  const double specials[] = {INFINITY, -INFINITY, NAN, 0, 1, -1.5, 1 + 0x1p-7, 0x1p-14};
  const auto count = static_cast<std::int64_t>(std::size(specials));
  Matrix a = Matrix(GetParam(), count, 3).fill(1), b = Matrix(GetParam(), 3, count).fill(1);
  for (std::int64_t i = 0; i < count; ++i) {
    a.set(i, 1, specials[i]);
    b.set(1, i, specials[i]);
  }
  Matrix c(kFloat32, count, count);
  gemm(1, a.view(), b.view(), 0, c.view());
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      const double expected = specials[i] * specials[j] + 2;
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(c.get(i, j))) << specials[i] << " times " << specials[j];
      } else {
        EXPECT_EQ(c.get(i, j), static_cast<float>(expected))
            << specials[i] << " times " << specials[j];
      }
    }
  }
}

// The documented difference. A single column is multiplied in float32, which keeps them.
TEST(AmxBFloat16, CountsSubnormalNumbersAsZero) {
  if (!detail::uses_amx(kBFloat16)) GTEST_SKIP() << "no AMX here";
  const Matrix a = Matrix(kBFloat16, 2, 2).fill(0x1p-130), b = Matrix(kBFloat16, 2, 2).fill(0x1p10);
  Matrix c(kFloat32, 2, 2);
  gemm(1, a.view(), b.view(), 0, c.view());
  EXPECT_EQ(c.get(0, 0), 0);
}

TEST_P(Amx, CanBeSwitchedOff) {
  EXPECT_TRUE(backends::cpu::allow_amx());
  backends::cpu::set_allow_amx(false);
  EXPECT_FALSE(detail::uses_amx(GetParam()));
  backends::cpu::set_allow_amx(true);
  backends::cpu::set_allow_bf16_dot(false);
  EXPECT_EQ(detail::uses_amx(GetParam()), GetParam() == kFloat16);
}

}  // namespace
}  // namespace halfgrad
