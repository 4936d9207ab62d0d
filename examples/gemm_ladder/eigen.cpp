#include "libraries.h"

#if __has_include(<eigen3/Eigen/Core>)

#ifndef __clang__
// g++ 12 warns of uninitialised variables in the AVX-512 intrinsics that Eigen calls.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <algorithm>

#include <eigen3/Eigen/Core>

#include <halfgrad/core/thread_pool.h>

namespace ladder {

bool has_eigen() { return true; }

// Eigen multiplies on the thread that calls it, so each of our threads gets some rows of C.
void multiply_by_eigen(std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                       const float* b, float* c) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int threads = halfgrad::get_num_threads();
  const std::int64_t grain = std::max<std::int64_t>(1, (m + threads - 1) / threads);
  halfgrad::parallel_for(0, m, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t rows = end - begin;
    Eigen::Map<Matrix>(c + begin * n, rows, n).noalias() =
        Eigen::Map<const Matrix>(a + begin * k, rows, k) * Eigen::Map<const Matrix>(b, k, n);
  });
}

}  // namespace ladder

#else

namespace ladder {

bool has_eigen() { return false; }
void multiply_by_eigen(std::int64_t, std::int64_t, std::int64_t, const float*, const float*,
                       float*) {}

}  // namespace ladder

#endif
