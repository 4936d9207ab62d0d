#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/cuda/kernels/gemm_small.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>
#include <halfgrad/tests/core/gemm/matrix_on_gpu.h>

// Runs our kernel for products with a small C.
namespace halfgrad {

inline detail::GemmCall call_of(const MatrixView& a, const MatrixView& b,
                                const MutableMatrixView& c, const detail::Epilogue& epilogue = {}) {
  return {.count = 1, .alpha = 1, .a = a, .b = b, .c = c, .epilogue = epilogue};
}

// Returns A B with the epilogue. `old` has the shape, the layout and the dtype of the result.
inline Matrix multiplied(const Matrix& a, const Matrix& b, const Matrix& old,
                         const detail::Epilogue& epilogue = {}) {
  const MatrixOnGpu a_there(a), b_there(b), c_there(old);
  EXPECT_TRUE(detail::multiply_small(
      call_of(a_there.view(), b_there.view(), c_there.mutable_view(), epilogue)));
  return c_there.fetched(old);
}

/// The dtypes of operands and result that the kernel takes.
inline constexpr GemmDtypes kSmallProductDtypes[] = {
    {kFloat16, kFloat16}, {kBFloat16, kBFloat16}, {kFloat16, kFloat32}, {kBFloat16, kFloat32}};

class SmallProductTest : public ::testing::TestWithParam<GemmDtypes> {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
    set_gemm_backend(GemmBackend::small_product);
  }
  void TearDown() override { set_gemm_backend(GemmBackend::automatic); }

  static Matrix operand(std::int64_t rows, std::int64_t cols,
                        MatrixLayout layout = MatrixLayout::rows) {
    return Matrix(GetParam().operands, rows, cols, layout).randomize(unsigned(17 * rows + cols));
  }
  static Matrix result(std::int64_t rows, std::int64_t cols,
                       MatrixLayout layout = MatrixLayout::rows) {
    return Matrix(GetParam().result, rows, cols, layout).randomize(99);
  }
  static void expect_right(std::int64_t m, std::int64_t n, std::int64_t k,
                           MatrixLayout la = MatrixLayout::rows,
                           MatrixLayout lb = MatrixLayout::rows,
                           MatrixLayout lc = MatrixLayout::rows) {
    SCOPED_TRACE(std::to_string(m) + " by " + std::to_string(n) + " by " + std::to_string(k) +
                 ", layouts " + std::to_string(static_cast<int>(la)) + " " +
                 std::to_string(static_cast<int>(lb)) + " " + std::to_string(static_cast<int>(lc)));
    const Matrix a = operand(m, k, la), b = operand(k, n, lb), c = result(m, n, lc);
    expect_product(1, a, b, 0, c, nullptr, multiplied(a, b, c));
  }
};

}  // namespace halfgrad
