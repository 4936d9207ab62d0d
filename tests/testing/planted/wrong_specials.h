#pragma once

#include <algorithm>

#include <halfgrad/tests/testing/planted/wrong_sizes.h>

/// Kernels that are wrong for infinities, NaN, zeros or equal values.
namespace halfgrad::testing::planted {

inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// Sums exp(x) in tiles, rescaling at a new maximum: -inf - -inf is NaN in a tile of -inf. Returns
/// the maximum and the sum.
struct Online {
  float most = -kInf, sum = 0;

  Online(const Call& c, Index row, Index tile) {
    for (Index first = 0; first < c.k; first += tile) {
      float own = most;
      const Index end = std::min(first + tile, c.k);
      for (Index i = first; i < end; ++i)
        own = std::isnan(c.x(row, i)) ? NAN : std::fmax(own, c.x(row, i));
      sum *= first == 0 ? 0 : std::exp(most - own);
      for (Index i = first; i < end; ++i) sum += std::exp(c.x(row, i) - own);
      most = own;
    }
  }
};
inline Kernel online_softmax(Index tile) {
  return rows([=](const Call& c, Index row) {
    const Online online(c, row, tile);
    for (Index i = 0; i < c.k; ++i) {
      c.y(row * c.k + i, std::exp(c.x(row, i) - online.most) / online.sum);
    }
  });
}
inline Kernel online_logsumexp(Index tile) {
  return rows([=](const Call& c, Index row) {
    const Online online(c, row, tile);
    c.y(row, std::isinf(online.most) ? online.most : online.most + std::log(online.sum));
  });
}
/// Sums whose accumulator is cleared by a product with 0, which keeps NaN and infinities.
inline Kernel sum_not_cleared(Index every) {
  return called([=](const Call& c) {
    float sum = 0;
    for (Index row = 0; row < c.m; ++row) {
      sum = row % every == 0 ? 0 : sum * 0;
      for (Index i = 0; i < c.k; ++i) sum += c.x(row, i);
      c.y(row, sum);
    }
  });
}

inline std::vector<PlantedKernel> wrong_specials() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"softmax", f32, "a first tile of 2 -inf", online_softmax(2)},
      {"softmax", f16, "a first tile of 16 -inf", online_softmax(16)},
      {"softmax", f32, "a first tile of 64 -inf", online_softmax(64)},
      {"logsumexp", f32, "a first tile of 4 -inf", online_logsumexp(4)},
      {"logsumexp", bf16, "a first tile of 32 -inf", online_logsumexp(32)},
      {"sum", f32, "the accumulator times 0", sum_not_cleared(1 << 20)},
      {"sum", f16, "the accumulator times 0, cleared every second row", sum_not_cleared(2)},
      {"add", f32, "NaN for two infinities",
       each([](float a, float b) { return std::isinf(a) && std::isinf(b) ? NAN : a + b; })},
      {"sub", f32, "0 for equal operands",
       each([](float a, float b) { return a == b ? 0 : a - b; })},
      {"mul", f32, "0 for a factor of 0",
       each([](float a, float b) { return a == 0 || b == 0 ? 0 : a * b; })},
      {"mul", bf16, "NaN as the larger factor",
       each([](float a, float b) { return std::isnan(a) && std::isnan(b) ? 0 : a * b; })},
      {"div", f32, "1 for equal operands",
       each([](float a, float b) { return a == b ? 1 : a / b; })},
      {"maximum", f32, "fmax, which drops NaN",
       each([](float a, float b) { return std::fmax(a, b); })},
      {"minimum", f16, "the second for NaN in the first",
       each([](float a, float b) { return a < b ? a : b; })},
      {"mm", f32, "skips products with 0", products([](const Call& c, Index i, Index j, Index n) {
         float sum = 0;
         for (Index p = 0; p < c.k; ++p) {
           if (c.x(i, p) != 0) sum += c.x(i, p) * c.w(p * n + j);
         }
         return sum;
       })},
      {"mm", f32, "NaN of a row in the rows of its tile of 8",
       products([](const Call& c, Index i, Index j, Index n) {
         float poison = 0;
         for (Index row = i / 8 * 8; row < std::min(i / 8 * 8 + 8, c.m); ++row) {
           for (Index p = 0; p < c.k; ++p) poison += 0 * c.x(row, p);
         }
         return dot_of(c, i, j, n, c.k) + (std::isnan(poison) ? poison : 0);
       })},
      {"argmax", f32, "the last of two NaNs", rows([](const Call& c, Index row) {
         Index best = 0;
         for (Index i = 1; i < c.k; ++i) {
           const float x = c.x(row, i), y = c.x(row, best);
           if (std::isnan(x) || x > y) best = i;
         }
         c.y(row, static_cast<float>(best));
       })},
      {"argmin", f32, "the last of equal values", rows([](const Call& c, Index row) {
         Index best = 0;
         for (Index i = 1; i < c.k && !std::isnan(c.x(row, best)); ++i) {
           if (!(c.x(row, i) > c.x(row, best))) best = i;
         }
         c.y(row, static_cast<float>(best));
       })},
      {"amax", f32, "starts from -3e38", rows([](const Call& c, Index row) {
         float most = -3e38f;
         for (Index i = 0; i < c.k; ++i)
           most = std::isnan(most) || c.x(row, i) <= most ? most : c.x(row, i);
         c.y(row, most);
       })},
      {"cumsum", f32, "starts anew after NaN", rows([](const Call& c, Index row) {
         float sum = 0;
         for (Index i = 0; i < c.k; ++i) {
           sum = std::isnan(sum) ? c.x(row, i) : sum + c.x(row, i);
           c.y(row * c.k + i, sum);
         }
       })},
      {"norm", f32, "scaled by the largest element", rows([](const Call& c, Index row) {
         float most = 0, squares = 0;
         for (Index i = 0; i < c.k; ++i) most = std::fmax(most, std::fabs(c.x(row, i)));
         for (Index i = 0; i < c.k; ++i) squares += c.x(row, i) / most * (c.x(row, i) / most);
         c.y(row, most == 0 ? 0 : most * std::sqrt(squares));
       })},
      {"layer_norm", f32, "0 for NaN in x", rows([](const Call& c, Index row) {
         norm_row(c, row, c.k, 1e-5f);
         for (Index i = 0; i < c.k; ++i) {
           if (std::isnan(c.x(row, i))) c.y(row * c.k + i, 0);
         }
       })},
      {"transpose", f32, "0 for -0", called([](const Call& c) {
         for (Index at = 0; at < c.n(); ++at) c.y(at % c.k * c.m + at / c.k, c.x(at) + 0.0f);
       })},
      {"cat", f16, "one NaN for all", called([](const Call& c) {
         const Index n = c.in[1].size(1), all = c.k + n;
         for (Index at = 0; at < c.n(); ++at) {
           const Index i = at % all, row = at / all;
           const float x = i < c.k ? c.x(row, i) : c.w(row * n + i - c.k);
           c.y(at, std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x);
         }
       })},
  };
}

}  // namespace halfgrad::testing::planted
