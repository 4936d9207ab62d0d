#include <halfgrad/core/gemm/gemm_library.h>

#ifdef HALFGRAD_GEMM_EIGEN

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in the intrinsics that Eigen calls
#endif

#include <algorithm>
#include <type_traits>

#include <Eigen/Core>

#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

template <class T, int Order>
using Matrix =
    Eigen::Map<std::conditional_t<std::is_const_v<T>,
                                  const Eigen::Matrix<std::remove_const_t<T>, -1, -1, Order>,
                                  Eigen::Matrix<T, -1, -1, Order>>,
               Eigen::Unaligned, Eigen::OuterStride<>>;

// Calls f(the operand as an Eigen::Map), row-major or column-major, whichever is contiguous.
template <class T, class F>
void as_eigen(const Operand<T>& x, const F& f) {
  if (x.col_stride == 1) {
    f(Matrix<const T, Eigen::RowMajor>(x.data, x.rows, x.cols, Eigen::OuterStride<>(x.row_stride)));
  } else {
    f(Matrix<const T, Eigen::ColMajor>(x.data, x.rows, x.cols, Eigen::OuterStride<>(x.col_stride)));
  }
}

}  // namespace

template <class T>
bool library_takes(const Operand<T>&, const Operand<T>&, std::int64_t) {
  return true;
}

// C is cut into blocks by its shape alone, so the bits do not depend on the number of threads.
template <class T>
void multiply_by_library(T alpha, const Operand<T>& a, const Operand<T>& b, T beta, T* c,
                         std::int64_t row_stride) {
  constexpr std::int64_t kEnough = 4, kNarrowest = 64;
  const std::int64_t m = a.rows, n = b.cols, height = 512;
  const std::int64_t down = divide_up(m, height);
  std::int64_t width = 512;
  while (width > kNarrowest && down * divide_up(n, width) < kEnough) width /= 2;
  const std::int64_t across = divide_up(n, width);
  as_eigen(a, [&](const auto& left) {
    as_eigen(b, [&](const auto& right) {
      parallel_for(
          0, down * across, grain_of(height * width * a.cols, kMultiplyAddsPerChunk),
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              const std::int64_t row = i / across * height, col = i % across * width;
              const std::int64_t rows = std::min(height, m - row), cols = std::min(width, n - col);
              Matrix<T, Eigen::RowMajor> block(c + row * row_stride + col, rows, cols,
                                               Eigen::OuterStride<>(row_stride));
              if (beta == T(0)) {
                block.setZero();
              } else {
                block *= beta;
              }
              block.noalias() += alpha * left.middleRows(row, rows) * right.middleCols(col, cols);
            }
          });
    });
  });
}

template bool library_takes(const Operand<float>&, const Operand<float>&, std::int64_t);
template bool library_takes(const Operand<double>&, const Operand<double>&, std::int64_t);
template void multiply_by_library(float, const Operand<float>&, const Operand<float>&, float,
                                  float*, std::int64_t);
template void multiply_by_library(double, const Operand<double>&, const Operand<double>&, double,
                                  double*, std::int64_t);

}  // namespace halfgrad::detail

#endif
