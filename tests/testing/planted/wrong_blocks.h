#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/attention.h>
#include <halfgrad/tests/testing/planted/backward.h>
#include <halfgrad/tests/testing/planted/wrong_memory.h>
#include <halfgrad/tests/testing/planted/wrong_races.h>

/// Kernels that are wrong where two conditions meet: a later block of rows and a later tile of
/// columns or of the depth, many keys or channels, a tail of one length at the end of a page, a
/// pointer of one alignment.
namespace halfgrad::testing::planted {

/// A product that is wrong in row `row` and below, where the depth needs a second tile.
inline Kernel product_wrong_below(Index row, Index depth) {
  return products([=](const Call& c, Index i, Index j, Index n) {
    return dot_of(c, i, j, n, c.k) + (i >= row && c.k > depth ? 1 : 0);
  });
}
/// A softmax that is wrong in one column of row `first` and below.
inline Kernel softmax_wrong_at(Index first, Index column) {
  return rows([=](const Call& c, Index row) {
    softmax_row(c, row, row, c.k);
    if (row >= first && c.k > column) c.y(row * c.k + column, 0);
  });
}
/// A right relu, or sum of two operands, that loads `vector` elements where `tail` are left.
inline Kernel loading_whole_tails(Index vector, Index tail) {
  return called([=](const Call& c) {
    const Index n = c.n();
    for (Index i = n; n % vector == tail && i < n - tail + vector; ++i) touch(c, 0, i);
    for (Index i = 0; i < n; ++i) {
      c.y(i, c.in.size() > 1 ? c.x(i) + c.w(i) : c.x(i) < 0 ? 0 : c.x(i));
    }
  });
}
/// Attention whose first output is wrong for more than `most` keys.
inline Kernel attention_of_keys(I most) {
  return [=](const std::vector<Array>& in, const std::vector<Array>& out) {
    const Calls c{in, out};
    attend(c, 0, false);
    if (c.size(1, 1) > most && c.size(0, 1) > 0) c.y(0, 0, 7);
  };
}
/// layer_norm_backward whose gradient of the weight lacks the rows from 128 on in later columns.
inline Kernel norm_backward_of_first_blocks() {
  return [](const std::vector<Array>& in, const std::vector<Array>& out) {
    const Calls c{in, out};
    layer_norm_backward(c, 0);
    const I m = c.size(0, 0), k = c.size(0, 1);
    for (I i = 128; i < k && m > 128; ++i) {
      float sum = 0;
      for (I at = i; at < 128 * k + i; at += k) {
        sum += c.x(0, at) * (c.x(1, at) - c.x(2, at / k)) * c.x(3, at / k);
      }
      c.y(1, i, sum);
    }
  };
}

inline std::vector<PlantedKernel> wrong_where_blocks_meet() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"mm", f32, "a second block of 128 rows with a second tile of depth 32",
       product_wrong_below(128, 32)},
      {"mm", f16, "a second block of 64 rows with a second tile of depth 64",
       product_wrong_below(64, 64)},
      {"softmax", f32, "a second block of 128 rows with one of 128 columns",
       softmax_wrong_at(128, 128)},
      {"softmax", f32, "a second block of 32 rows with one of 256 columns",
       softmax_wrong_at(32, 256)},
      {"layer_norm_backward", f32, "rows from 128 on of columns from 128 on",
       norm_backward_of_first_blocks()},
      {"scaled_dot_product_attention", f32, "more than 256 keys", attention_of_keys(256)},
      {"scaled_dot_product_attention", f16, "more than 1024 keys", attention_of_keys(1024)},
      {"batch_norm", f32, "weights of 256 channels", called([](const Call& c) {
         const Index m = c.in[0].size(0), n = c.in[0].size(1);
         for (Index channel = 0; channel < n; ++channel) {
           const auto at = [&](Index i) { return (i / c.k * n + channel) * c.k + i % c.k; };
           const auto count = static_cast<float>(m * c.k);
           float mean = 0, squares = 0;
           for (Index i = 0; i < m * c.k; ++i) mean += c.x(at(i)) / count;
           for (Index i = 0; i < m * c.k; ++i) {
             squares += (c.x(at(i)) - mean) * (c.x(at(i)) - mean);
           }
           const float scale = 1 / std::sqrt(squares / count + 1e-5f);
           for (Index i = 0; i < m * c.k; ++i) {
             const float x = (c.x(at(i)) - mean) * scale;
             c.y(at(i), x * c.w(channel % 256) + c.b(channel % 256));
           }
         }
       })},
      {"relu", f32, "the last of more than 2^17 elements", called([](const Call& c) {
         constexpr Index kMost = 1 << 17;
         for (Index i = 0; i < c.n(); ++i) {
           const bool is_lost = c.n() > kMost && i == c.n() - 1;
           c.y(i, is_lost ? 7 : c.x(i) < 0 ? 0 : c.x(i));
         }
       })},
  };
}

inline std::vector<PlantedKernel> wrong_at_ends_of_pages() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"relu", f32, "loads 8 elements where 6 are left", loading_whole_tails(8, 6)},
      {"add", f32, "loads 8 elements where 4 are left", loading_whole_tails(8, 4)},
      {"relu", f16, "loads 16 elements where 6 are left", loading_whole_tails(16, 6)},
      {"sum", f32, "loads 16 elements where 10 are left",
       called([right = right_sum()](const Call& c) {
         for (Index i = c.m * c.k; c.k % 16 == 10 && i < c.m * c.k + 6; ++i) touch(c, 0, i);
         right(c.in, c.out);
       })},
      {"add", f32, "an operand aligned to 16 bytes as one aligned to 32", called([](const Call& c) {
         const auto address = reinterpret_cast<std::uintptr_t>(c.in[0].data());
         const Index back = address % 16 == 0 ? static_cast<Index>(address % 32 / 4) : 0;
         for (Index i = 0; i < c.n(); ++i) c.y(i, c.x(i - back) + c.w(i));
       })},
  };
}

/// Results of 0 that lost their sign.
inline float unsigned_zero(float y) { return y == 0 ? 0.0f : y; }

inline std::vector<PlantedKernel> wrong_signs_of_zero() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"mul", f32, "0 for -0", each([](float a, float b) { return unsigned_zero(a * b); })},
      {"div", f16, "0 for -0", each([](float a, float b) { return unsigned_zero(a / b); })},
      {"sqrt", f32, "sqrt(-0) is 0",
       each([](float x, float) { return unsigned_zero(std::sqrt(x)); })},
      {"reciprocal", f32, "1 / -inf is 0",
       each([](float x, float) { return unsigned_zero(1 / x); })},
  };
}

}  // namespace halfgrad::testing::planted
