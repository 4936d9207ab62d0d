// The order of sums in a matrix product: with our own kernel it depends on the depth alone.
#include <halfgrad/core/gemm.h>

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
    for (const Layout layout : kLayouts) {
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

// One row and one column of C, computed alone, have the same bits as in the whole.
TEST_P(GemmOrder, BitsDependNeitherOnTheOtherRowsNorOnTheOtherColumns) {
  constexpr std::int64_t kRows = 14;
  const Matrix biases = Matrix(kFloat32, 1, 300).randomize(5);
  for (const std::int64_t n : {2, 15, 17, 33, 255, 300}) {
    for (const std::int64_t depth : {0, 1, 15, 16, 17, 600}) {
      for (const Layout la : {Layout::rows, Layout::columns, Layout::scattered}) {
        for (const Layout lb : {Layout::rows, Layout::columns, Layout::scattered}) {
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
          for (std::int64_t i = 0; i < kRows; ++i)
            ASSERT_EQ(column.get(i, 0), c.get(i, 0)) << depth;
        }
      }
    }
  }
}

}  // namespace
}  // namespace halfgrad
