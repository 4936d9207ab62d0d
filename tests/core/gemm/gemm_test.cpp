#include <halfgrad/core/gemm.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/thread_pool.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>
#include <halfgrad/tests/core/numbers/special_floats.h>

namespace halfgrad {
namespace {

class Gemm : public GemmTest {};

INSTANTIATE_TEST_SUITE_P(Dtypes, Gemm, ::testing::ValuesIn(kGemmDtypes), GemmTest::name_of);

TEST_P(Gemm, EveryLayout) {
  for (const MatrixLayout la : kLayouts) {
    for (const MatrixLayout lb : kLayouts) {
      for (const MatrixLayout lc : kLayouts) {
        const Matrix a = operand(19, 21, la), b = operand(21, 35, lb), before = result(19, 35, lc);
        Matrix c = before;
        gemm(0.5, a.view(), b.view(), 2, c.view());
        expect_product(0.5, a, b, 2, before, nullptr, c);
      }
    }
  }
}

TEST_P(Gemm, EverySize) {
  for (const std::int64_t m : {0, 1, 2, 6, 7, 13}) {
    for (const std::int64_t n : {0, 1, 7, 8, 16, 17, 33}) {
      for (const std::int64_t k : {0, 1, 2, 8, 9, 300}) {
        for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::columns}) {
          const Matrix a = operand(m, k, layout), b = operand(k, n, layout), before = result(m, n);
          Matrix c = before;
          gemm(1, a.view(), b.view(), -1, c.view());
          expect_product(1, a, b, -1, before, nullptr, c);
        }
      }
    }
  }
}

TEST_P(Gemm, ManyTilesAndDepthBlocks) {
  const Matrix a = operand(200, 600), b = operand(600, 131, MatrixLayout::columns);
  const Matrix before = result(200, 131), bias = Matrix(kFloat32, 1, 131).randomize(5);
  Matrix c = before;
  gemm(1, a.view(), b.view(), 1, c.view(), {bias.view().data, kFloat32});
  expect_product(1, a, b, 1, before, &bias, c);
}

TEST_P(Gemm, AlphaBetaBias) {
  for (const auto& [m, n] : {std::pair{9, 18}, {1, 18}, {1, 150}, {9, 1}}) {
    for (const double alpha : {0.0, 1.0, -2.5}) {
      for (const double beta : {0.0, 1.0, 0.75}) {
        for (const DType bias_dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
          for (const MatrixLayout layout : kLayouts) {
            const Matrix a = operand(m, 11), b = operand(11, n), before = result(m, n, layout);
            const Matrix bias = Matrix(bias_dtype, 1, n).randomize(3);
            Matrix c = before;
            gemm(alpha, a.view(), b.view(), beta, c.view(), {bias.view().data, bias_dtype});
            expect_product(alpha, a, b, beta, before, &bias, c);
          }
        }
      }
    }
  }
}

TEST_P(Gemm, BetaZeroDoesNotReadC) {
  for (const MatrixLayout layout : kLayouts) {
    const Matrix a = operand(7, 5), b = operand(5, 19);
    Matrix c = result(7, 19, layout).fill(kNaN);
    gemm(1, a.view(), b.view(), 0, c.view());
    expect_product(1, a, b, 0, c, nullptr, c);
  }
}

TEST_P(Gemm, LeavesPaddingAlone) {
  Matrix whole = result(10, 40).fill(7);
  MutableMatrixView c = whole.view();
  c.rows = 9, c.cols = 37;
  const Matrix a = operand(9, 4), b = operand(4, 37);
  gemm(1, a.view(), b.view(), 0, c);
  for (std::int64_t i = 0; i < 10; ++i) {
    for (std::int64_t j = 0; j < 40; ++j) {
      const bool padding = i == 9 || j >= 37;
      EXPECT_EQ(whole.get(i, j) == 7, padding) << i << ", " << j;
    }
  }
}

// An inf or NaN changes its own row or column of C, and no other.
TEST_P(Gemm, InfAndNaNPropagate) {
  for (const double bad : {kInf, -kInf, kNaN}) {
    Matrix a = operand(8, 10), b = operand(10, 18).fill(1);
    a.set(2, 3, bad);
    Matrix c = result(8, 18);
    gemm(1, a.view(), b.view(), 0, c.view());
    for (std::int64_t i = 0; i < 8; ++i) {
      for (std::int64_t j = 0; j < 18; ++j) {
        if (i != 2) {
          EXPECT_TRUE(std::isfinite(c.get(i, j)));
        } else if (std::isnan(bad)) {
          EXPECT_TRUE(std::isnan(c.get(i, j)));
        } else {
          EXPECT_EQ(c.get(i, j), bad);
        }
      }
    }
    b.set(3, 4, 0);
    gemm(1, a.view(), b.view(), 0, c.view());
    EXPECT_TRUE(std::isnan(c.get(2, 4)));
  }
}

TEST_P(Gemm, BitsDoNotDependOnThreads) {
  if (std::string_view(HALFGRAD_GEMM) == "blas")
    GTEST_SKIP() << "the bits of a BLAS may depend on threads";
  for (const auto& [m, n] : {std::pair{1, 700}, {230, 700}, {700, 1}}) {
    for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::columns}) {
      const Matrix a = operand(m, 520, layout), b = operand(520, n, layout);
      Matrix reference = result(m, n);
      set_num_threads(1);
      gemm(1, a.view(), b.view(), 0, reference.view());
      for (const int threads : {2, 3, 5}) {
        set_num_threads(threads);
        Matrix c = result(m, n);
        gemm(1, a.view(), b.view(), 0, c.view());
        EXPECT_EQ(c.bytes(), reference.bytes());
      }
    }
  }
}

TEST_P(Gemm, StrideZeroRepeatsAnOperandOfABatch) {
  struct Case {
    std::int64_t count, m, k, n;
  };
  for (const auto [count, m, k, n] :
       {Case{5, 7, 9, 18}, Case{3, 180, 160, 170}, Case{0, 2, 2, 2}}) {
    for (const bool repeats_a : {false, true}) {
      for (const bool repeats_b : {false, true}) {
        const Matrix a = operand(m * (repeats_a ? 1 : count), k);
        const Matrix b = operand(k * (repeats_b ? 1 : count), n);
        Matrix c = result(m * count, n), expected = c;
        const auto part = [](auto view, std::int64_t rows, std::int64_t from) {
          using Byte =
              std::conditional_t<std::is_same_v<decltype(view), MatrixView>, const char, char>;
          view.data = static_cast<Byte*>(view.data) + from * view.cols * item_size(view.dtype);
          view.rows = rows;
          return view;
        };
        gemm_batched(count, 1, part(a.view(), m, 0), repeats_a ? 0 : m * k, part(b.view(), k, 0),
                     repeats_b ? 0 : k * n, 1, part(c.view(), m, 0), m * n);
        for (std::int64_t i = 0; i < count; ++i) {
          gemm(1, part(a.view(), m, repeats_a ? 0 : i * m),
               part(b.view(), k, repeats_b ? 0 : i * k), 1, part(expected.view(), m, i * m));
        }
        EXPECT_EQ(c.bytes(), expected.bytes());
      }
    }
  }
}

TEST(GemmAccumulation, IsInF32AndNarrowsOnce) {
  // 2048 + 1 is a tie in binary16, which rounds to 2048: in f16 the sum would not move.
  Matrix a = Matrix(kFloat16, 1, 2049).fill(1), b = Matrix(kFloat16, 2049, 1).fill(1);
  a.set(0, 0, 2048);
  Matrix c(kFloat16, 1, 1), wide(kFloat32, 1, 1);
  gemm(1, a.view(), b.view(), 0, c.view());
  gemm(1, a.view(), b.view(), 0, wide.view());
  EXPECT_EQ(c.get(0, 0), 4096);
  EXPECT_EQ(wide.get(0, 0), 4096);
  // A sum above 65504 does not overflow if a negative beta C brings it back into range.
  a.fill(32), b.fill(1), c.fill(32768);
  gemm(1, a.view(), b.view(), -1, c.view());
  EXPECT_EQ(c.get(0, 0), 32 * 2049 - 32768);
}

TEST(GemmScratch, ComesFromTheAllocator) {
  const Matrix a = Matrix(kFloat16, 40, 50).randomize(1), b = Matrix(kFloat16, 50, 60).randomize(2);
  const Matrix before = Matrix(kFloat16, 40, 60).fill(7);
  Matrix c = before;
  allocator::reset_peak(Device());
  const std::int64_t current = allocator::stats(Device()).current;
  gemm(1, a.view(), b.view(), 0, c.view());
  EXPECT_EQ(allocator::stats(Device()).current, current);
  EXPECT_GE(allocator::stats(Device()).peak, current + 4 * (40 * 50 + 50 * 60));  // both in f32

  c = before;
  allocator::fail_allocation(Device(), 1);
  EXPECT_THROW(gemm(1, a.view(), b.view(), 0, c.view()), std::runtime_error);
  EXPECT_EQ(c.bytes(), before.bytes());
}

TEST(GemmErrors, NameTheArgumentThatDoesNotFit) {
  const auto message = [](const Matrix& a, const Matrix& b, Matrix c) -> std::string {
    try {
      gemm(1, a.view(), b.view(), 0, c.view());
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  const Matrix f32(kFloat32, 2, 3), f16(kFloat16, 3, 2), i32(kInt32, 2, 3), bools(kBool, 2, 2);
  EXPECT_EQ(message(f32, f32, f32),
            "gemm: expected shapes (m, k), (k, n) and (m, n), got (2, 3), (2, 3) and (2, 3)");
  EXPECT_EQ(message(f32, f16, Matrix(kFloat32, 2, 2)),
            "gemm: expected one floating dtype, or a float32 result of 16-bit operands, got "
            "float32, float16 and float32");
  EXPECT_EQ(message(i32, Matrix(kInt32, 3, 2), Matrix(kInt64, 2, 2)),
            "gemm: expected one integer dtype, got int32, int32 and int64");
  EXPECT_NE(message(bools, bools, bools), "");
  EXPECT_NE(message(f32, Matrix(kFloat32, 3, 2), Matrix(kFloat16, 2, 2)), "");
}

}  // namespace
}  // namespace halfgrad
