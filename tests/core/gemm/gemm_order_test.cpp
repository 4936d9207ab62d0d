// The order of sums in a matrix product: with our own kernel it depends on the depth alone.
#include <halfgrad/core/gemm.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include <halfgrad/tests/core/gemm/gemm_matrix.h>

namespace halfgrad {
namespace {

class GemmOrder : public GemmTest {
 protected:
  void SetUp() override {
    if (std::string_view(HALFGRAD_GEMM) != "own") {
      GTEST_SKIP() << "the order of sums is that of " HALFGRAD_GEMM;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, GemmOrder, ::testing::ValuesIn(kGemmDtypes), GemmTest::name_of);

// Rows of A that share a set of the L1 cache are packed, in the same order of sums.
TEST_P(GemmOrder, RowsOf4096Bytes) {
  for (const std::int64_t depth : {0, 1, 16, 17, 37, 1024}) {
    const Matrix wide = operand(17, 1024), b = operand(depth, 129);
    Matrix narrow(wide.dtype(), 17, depth), c = result(17, 129), of_narrow = c;
    for (std::int64_t i = 0; i < 17; ++i) {
      for (std::int64_t k = 0; k < depth; ++k) narrow.set(i, k, wide.get(i, k));
    }
    MatrixView a = wide.view();
    a.cols = depth;
    gemm(1, a, b.view(), 0, c.view());
    expect_product(1, narrow, b, 0, c, nullptr, c);
    gemm(1, narrow.view(), b.view(), 0, of_narrow.view());
    EXPECT_EQ(c.bytes(), of_narrow.bytes()) << depth;
  }
}

TEST_P(GemmOrder, BitsDoNotDependOnTheLayoutOfC) {
  const Matrix a = operand(7, 1000), b = operand(1000, 33),
               bias = Matrix(kFloat32, 1, 33).fill(0.3);
  for (const RowBias& row : {RowBias{}, RowBias{bias.view().data, kFloat32}}) {
    Matrix expected = result(7, 33);
    gemm(0.3, a.view(), b.view(), 0.7, expected.view(), row);
    for (const MatrixLayout layout : kLayouts) {
      Matrix c = result(7, 33, layout);
      gemm(0.3, a.view(), b.view(), 0.7, c.view(), row);
      for (std::int64_t i = 0; i < 7; ++i) {
        for (std::int64_t j = 0; j < 33; ++j) EXPECT_EQ(c.get(i, j), expected.get(i, j));
      }
    }
  }
}

TEST_P(GemmOrder, ABroadcastOperandHasStrideZero) {
  const Matrix row = operand(1, 12), b = operand(12, 20);
  Matrix a(GetParam().operands, 9, 12), before = result(9, 20), c = before, expected = before;
  for (std::int64_t i = 0; i < 9; ++i) {
    for (std::int64_t k = 0; k < 12; ++k) a.set(i, k, row.get(0, k));
  }
  MatrixView repeated = row.view();
  repeated.rows = 9, repeated.row_stride = 0;
  gemm(1, repeated, b.view(), 0, c.view());
  gemm(1, a.view(), b.view(), 0, expected.view());
  EXPECT_EQ(c.bytes(), expected.bytes());
}

// One row and one column of C, computed alone, have the same bits as in the whole; but a column has
// an order of its own if the rows of A are contiguous.
TEST_P(GemmOrder, BitsDependNeitherOnTheOtherRowsNorOnTheOtherColumns) {
  constexpr std::int64_t kRows = 14;
  const Matrix biases = Matrix(kFloat32, 1, 300).randomize(5);
  for (const std::int64_t n : {2, 15, 17, 33, 255, 300}) {
    for (const std::int64_t depth : {0, 1, 15, 16, 17, 600}) {
      for (const MatrixLayout la :
           {MatrixLayout::rows, MatrixLayout::columns, MatrixLayout::scattered}) {
        for (const MatrixLayout lb :
             {MatrixLayout::rows, MatrixLayout::columns, MatrixLayout::scattered}) {
          const Matrix a = operand(kRows, depth, la), b = operand(depth, n, lb);
          const auto* const bias = static_cast<const float*>(biases.view().data);
          const Matrix before = result(kRows, n);
          Matrix c = before;
          gemm(0.3, a.view(), b.view(), 0.7, c.view(), {bias, kFloat32});

          Matrix row(c.dtype(), 1, n), column(c.dtype(), kRows, 1);
          for (std::int64_t j = 0; j < n; ++j) row.set(0, j, before.get(0, j));
          for (std::int64_t i = 0; i < kRows; ++i) column.set(i, 0, before.get(i, 0));
          MatrixView first_row = a.view(), first_column = b.view();
          first_row.rows = 1, first_column.cols = 1;
          gemm(0.3, first_row, b.view(), 0.7, row.view(), {bias, kFloat32});
          gemm(0.3, a.view(), first_column, 0.7, column.view(), {bias, kFloat32});
          for (std::int64_t j = 0; j < n; ++j)
            ASSERT_EQ(row.get(0, j), c.get(0, j)) << n << ' ' << depth;
          for (std::int64_t i = 0; la != MatrixLayout::rows && i < kRows; ++i)
            ASSERT_EQ(column.get(i, 0), c.get(i, 0)) << depth;

          Matrix element(c.dtype(), 1, 1);
          element.set(0, 0, before.get(0, 0));
          gemm(0.3, first_row, first_column, 0.7, element.view(), {bias, kFloat32});
          ASSERT_EQ(element.get(0, 0), column.get(0, 0)) << depth;
        }
      }
    }
  }
}

// Sums a row of A times a vector in the order of gemm_column.h.
template <class T>
T partial_sums(const Matrix& a, std::int64_t row, const Matrix& x) {
  constexpr std::int64_t kCount = 64 / sizeof(T);
  T sums[kCount] = {};
  for (std::int64_t k = 0; k < a.cols(); ++k) {
    const T factor = static_cast<T>(a.get(row, k)), other = static_cast<T>(x.get(k, 0));
    T& sum = sums[k % kCount];
#if defined(__FMA__)
    sum = std::fma(factor, other, sum);
#else
    sum += factor * other;
#endif
  }
  for (std::int64_t half = kCount / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

TEST_P(GemmOrder, AColumnOfContiguousRowsHasPartialSums) {
  for (const std::int64_t m : {1, 2, 8, 15, 16, 35}) {
    for (const std::int64_t depth : {1, 3, 8, 16, 17, 100, 1000}) {
      for (const MatrixLayout layout : {MatrixLayout::rows, MatrixLayout::padded_rows}) {
        for (const MatrixLayout of_x : {MatrixLayout::rows, MatrixLayout::scattered}) {
          const Matrix a = operand(m, depth, layout), x = operand(depth, 1, of_x);
          Matrix c = result(m, 1), expected = c;
          gemm(1, a.view(), x.view(), 0, c.view());
          for (std::int64_t i = 0; i < m; ++i) {
            expected.set(i, 0,
                         a.dtype() == kFloat64 ? partial_sums<double>(a, i, x)
                                               : partial_sums<float>(a, i, x));
          }
          ASSERT_EQ(c.bytes(), expected.bytes()) << m << ' ' << depth;
        }
      }
    }
  }
}

// An inf in the last elements of a row stays an inf: nothing is multiplied by a padding 0.
TEST_P(GemmOrder, AColumnKeepsAnInfinity) {
  for (const std::int64_t at : {0, 15, 16, 18}) {
    Matrix a = operand(3, 19).fill(1), x = operand(19, 1).fill(1), c = result(3, 1);
    a.set(1, at, std::numeric_limits<double>::infinity());
    gemm(1, a.view(), x.view(), 0, c.view());
    EXPECT_EQ(c.get(0, 0), 19);
    EXPECT_EQ(c.get(1, 0), std::numeric_limits<double>::infinity());
    EXPECT_EQ(c.get(2, 0), 19);
  }
}

// A C of one row may have any stride, and a bias.
TEST_P(GemmOrder, ARowMayBeScattered) {
  const Matrix a = operand(1, 300), bias = Matrix(kFloat32, 1, 33).randomize(5);
  for (const MatrixLayout lb : {MatrixLayout::rows, MatrixLayout::columns}) {
    for (const RowBias& row : {RowBias{}, RowBias{bias.view().data, kFloat32}}) {
      const Matrix b = operand(300, 33, lb);
      Matrix expected = result(1, 33), scattered = result(1, 33, MatrixLayout::scattered);
      gemm(0.3, a.view(), b.view(), 0.7, expected.view(), row);
      gemm(0.3, a.view(), b.view(), 0.7, scattered.view(), row);
      for (std::int64_t j = 0; j < 33; ++j) EXPECT_EQ(scattered.get(0, j), expected.get(0, j));
    }
  }
}

// Contiguous rows of B are summed in registers if there are few columns, else in memory.
TEST_P(GemmOrder, ARowHasTheBitsOfABatchForEveryNumberOfColumns) {
  for (const std::int64_t n : {1, 7, 16, 31, 64, 65, 100, 128, 129, 1024, 1030, 2500}) {
    const Matrix a = operand(3, 299), b = operand(299, n);
    Matrix batch = result(3, n), row = result(1, n);
    MatrixView alone = a.view();
    alone.rows = 1;
    gemm(1, a.view(), b.view(), 0, batch.view());
    gemm(1, alone, b.view(), 0, row.view());
    for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(row.get(0, j), batch.get(0, j)) << n;
  }
}

}  // namespace
}  // namespace halfgrad
