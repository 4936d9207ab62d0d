#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/wrong_blocks.h>

/// Kernels with a way of their own for whole vectors, whole tiles or several long rows, which is
/// wrong only behind the first vector of every thread, the first tile of the depth or the first
/// rows, or for one misaligned array. And sums that lose so few of many rows that a worst-case
/// bound allows it.
namespace halfgrad::testing::planted {

inline constexpr Index kBlock = 4096;  ///< elements of 1024 threads with vectors of 4

inline bool in_second_block(const Call& c, Index i) { return c.k % 4 == 0 && i >= kBlock; }

inline bool is_aligned(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data_as<float>()) % 16 == 0;
}

/// A product that is wrong for whole tiles m x n x k, where the depth needs more than `depth`.
inline Kernel product_of_tiles(Index m, Index n, Index k, Index depth) {
  return products([=](const Call& c, Index i, Index j, Index columns) {
    const bool whole = c.m % m == 0 && columns % n == 0 && c.k % k == 0;
    return dot_of(c, i, j, columns, whole ? std::min(c.k, depth) : c.k);
  });
}

/// The mean loss of all rows, of which only the first `end` are added.
inline void cross_entropy_of(const Call& c, Index end) {
  double total = 0;
  for (Index row = 0; row < std::min(c.m, end); ++row) {
    float most = -INFINITY, sum = 0;
    for (Index i = 0; i < c.k; ++i) {
      most = std::isnan(c.x(row, i)) || std::isnan(most) ? NAN : std::fmax(most, c.x(row, i));
    }
    for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
    total += most - c.x(row, c.in[1].data_as<std::int64_t>()[row]) + std::log(sum);
  }
  c.y(0, static_cast<float>(total / static_cast<double>(c.m)));
}

inline std::vector<PlantedKernel> wrong_for_large_tiles() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"layer_norm", f32, "vectors of 4: a second block of columns has the weights of the first",
       rows([](const Call& c, Index row) {
         norm_row(c, row, c.k, 1e-5f, c.k % 4 == 0 ? kBlock : c.k);
       })},
      {"softmax", f32, "vectors of 4: the sum is that of the first block of columns",
       rows([](const Call& c, Index row) {
         softmax_row(c, row, row, c.k);
         float all = 0, first = 0;
         for (Index i = 0; i < c.k; ++i) {
           const float y = element(c.out, row * c.k + i);
           all += y;
           if (!in_second_block(c, i)) first += y;
         }
         for (Index i = 0; i < c.k && first < all; ++i) {
           c.y(row * c.k + i, element(c.out, row * c.k + i) / first);
         }
       })},
      {"cumsum", f32, "vectors of 4: a second block of columns begins at 0",
       rows([](const Call& c, Index row) {
         float sum = 0;
         for (Index i = 0; i < c.k; ++i) {
           if (in_second_block(c, i) && i % kBlock == 0) sum = 0;
           c.y(row * c.k + i, sum += c.x(row, i));
         }
       })},
      {"relu", f32, "vectors of 4: a third block is copied", called([](const Call& c) {
         for (Index i = 0; i < c.n(); ++i) {
           const bool copied = c.n() % 4 == 0 && i >= 2 * kBlock;
           c.y(i, c.x(i) < 0 && !copied ? 0 : c.x(i));
         }
       })},
      {"softmax", f32, "the third of several rows of 1024 columns or more is the first",
       rows([](const Call& c, Index row) {
         softmax_row(c, row == 2 && c.k >= 1024 ? 0 : row, row, c.k);
       })},
      {"sum", f32, "the fifth of several rows of 512 columns or more is the first",
       rows([](const Call& c, Index row) {
         c.y(row, sum_of(c, row == 4 && c.k >= 512 ? 0 : row, 0, c.k));
       })},
      {"scatter_add", f32, "the last of several whole blocks of 256 indices is lost",
       called([](const Call& c) {
         const Index n = c.in[1].size(1), end = n % 256 == 0 && n > 256 ? n - 256 : n;
         for (Index row = 0; row < c.m; ++row) {
           std::vector<double> sums(static_cast<std::size_t>(c.k));
           for (Index i = 0; i < c.k; ++i) sums[static_cast<std::size_t>(i)] = c.x(row, i);
           for (Index j = row * n; j < row * n + end; ++j) {
             sums[static_cast<std::size_t>(c.in[1].data_as<std::int64_t>()[j])] += c.b(j);
           }
           for (Index i = 0; i < c.k; ++i) {
             c.y(row * c.k + i, static_cast<float>(sums[static_cast<std::size_t>(i)]));
           }
         }
       })},
      {"mm", f32, "tiles of 128 x 128 x 32: only the first tile of the depth",
       product_of_tiles(128, 128, 32, 32)},
      {"mm", f16, "tiles of 64 x 64 x 64: three tiles of the depth",
       product_of_tiles(64, 64, 64, 192)},
      {"cross_entropy", f32, "the mean of 65535 rows at most is divided by the count of all",
       called([](const Call& c) { cross_entropy_of(c, 65535); })},
      {"l1_loss", f32, "the last four of more than 2^17 elements", called([](const Call& c) {
         const Index n = c.in[0].numel(), end = n > (1 << 17) ? n - 4 : n;
         double sum = 0;
         for (Index i = 0; i < end; ++i) sum += std::fabs(c.x(i) - c.w(i));
         c.y(0, static_cast<float>(sum / static_cast<double>(n)));
       })},
      {"rms_norm", f32, "vectors of 4 if the input and the output are aligned, but not the weight",
       rows([](const Call& c, Index row) {
         rms_row(c, row, 1e-5f);
         const bool whole = c.k % 4 == 0 && is_aligned(c.in[0]) && is_aligned(c.out);
         if (whole && c.k > 0 && !is_aligned(c.in[1])) c.y(row * c.k, 7);
       })},
      {"scaled_dot_product_attention", f32, "heads of 64: a second tile of 64 keys",
       [](const std::vector<Array>& in, const std::vector<Array>& out) {
         const Calls c{in, out};
         attend(c, 0, false);
         if (c.size(0, 2) == 64 && c.size(1, 1) > 64 && c.size(0, 1) > 0) c.y(0, 0, 7);
       }},
  };
}

}  // namespace halfgrad::testing::planted
