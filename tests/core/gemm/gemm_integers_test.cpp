#include <cstdint>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/tests/core/gemm/gemm_matrix.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

Matrix counted(DType dtype, std::int64_t rows, std::int64_t cols,
               MatrixLayout layout = MatrixLayout::rows) {
  Matrix matrix(dtype, rows, cols, layout);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j)
      matrix.set(i, j, static_cast<double>((7 * i + 3 * j) % 4));
  }
  return matrix;
}

TEST(GemmOfIntegers, EveryLayout) {
  for (const DType dtype : {kInt64, kInt32, kInt16, kInt8, kUInt8}) {
    const Matrix bias = counted(dtype, 1, 6);
    for (const MatrixLayout la : kLayouts) {
      for (const MatrixLayout lb : kLayouts) {
        for (const MatrixLayout lc : kLayouts) {
          const Matrix a = counted(dtype, 5, 4, la), b = counted(dtype, 4, 6, lb);
          const Matrix before = counted(dtype, 5, 6, lc);
          Matrix c = before;
          gemm(2, a.view(), b.view(), 3, c.view(), {bias.view().data, dtype});
          expect_product(2, a, b, 3, before, &bias, c);
        }
      }
    }
  }
}

TEST(GemmOfIntegers, ManyColumns) {
  const Matrix a = counted(kInt64, 2, 3), b = counted(kInt64, 3, 601);
  Matrix bias(kInt64, 1, 601), c(kInt64, 2, 601);
  for (std::int64_t i = 0; i < 601; ++i) bias.set(0, i, static_cast<double>(i));
  gemm(1, a.view(), b.view(), 0, c.view(), {bias.view().data, kInt64});
  expect_product(1, a, b, 0, c, &bias, c);
}

TEST(GemmOfIntegers, NeedsTheCpu) {
  const Matrix a = counted(kInt64, 2, 2);
  MatrixView on_gpu = a.view();
  on_gpu.device = kCUDA;
  Matrix c = a;
  MutableMatrixView result = c.view();
  result.device = kCUDA;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { gemm(1, on_gpu, on_gpu, 0, result); }),
            "gemm: expected floating matrices on a GPU, got int64");
}

TEST(GemmOfIntegers, NeedsABiasOfItsDType) {
  const Matrix a = counted(kInt64, 2, 2), bias = counted(kInt32, 1, 2);
  Matrix c = a;
  EXPECT_THROW(gemm(1, a.view(), a.view(), 0, c.view(), {bias.view().data, kInt32}),
               std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
