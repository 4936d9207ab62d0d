#pragma once

#include <algorithm>
#include <vector>

#include <halfgrad/tests/testing/planted/bug.h>

namespace halfgrad::testing::planted {

/// c = a b, with k in tiles of 16 that are widened into a buffer before they are multiplied.
struct Gemm {
  static constexpr std::int64_t kTile = 16;
  Bug bug = Bug::none;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(0), k = in[0].size(1), n = in[1].size(1);
    const T* a = in[0].data_as<T>();
    const T* b = in[1].data_as<T>();
    T* c = out.data_as<T>();
    const std::int64_t ldb = bug == Bug::mm_wrong_leading_dimension ? n - 1 : n;
    const std::int64_t rows = bug == Bug::mm_writes_one_row_more && k > 0 ? m + 1 : m;
    const std::int64_t columns = bug == Bug::mm_misses_last_column ? n - 1 : n;
    std::vector<float> tile_of_b(kTile);
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* row_of_a = a + std::min(i, m - 1) * k;
      for (std::int64_t j = 0; j < columns; ++j) {
        float sum = bug == Bug::mm_adds_to_output ? widened(c[i * n + j]) : 0;
        for (std::int64_t k0 = 0; k0 < k; k0 += kTile) {
          const std::int64_t depth = std::min(kTile, k - k0);
          if (bug == Bug::mm_skips_last_tile && depth < kTile) break;
          if (bug != Bug::mm_tile_not_cleared) std::fill(tile_of_b.begin(), tile_of_b.end(), 0.0f);
          for (std::int64_t p = 0; p < depth; ++p) {
            tile_of_b[static_cast<std::size_t>(p)] = widened(b[(k0 + p) * ldb + j]);
          }
          const std::int64_t last = bug == Bug::mm_tile_not_cleared ? kTile : depth;
          for (std::int64_t p = 0; p < last; ++p) {
            const float left = widened(row_of_a[std::min(k0 + p, k - 1)]);
            sum += product(left, tile_of_b[static_cast<std::size_t>(p)]);
          }
          if (bug == Bug::mm_rounds_between_tiles) sum = through<T>(sum);
        }
        c[bug == Bug::mm_transposed_output ? j * m + i : i * n + j] = T(sum);
      }
    }
  }

 private:
  float product(float a, float b) const {
    if (bug == Bug::mm_skips_zeros && (a == 0 || b == 0)) return 0;
    if (bug == Bug::mm_quarter_squares) return ((a + b) * (a + b) - (a - b) * (a - b)) / 4;
    return a * b;
  }
};

}  // namespace halfgrad::testing::planted
