#pragma once

#include <algorithm>
#include <bit>

#include <halfgrad/tests/testing/planted/wrong_sizes.h>

/// Kernels that round too often, in one direction, or with another eps.
namespace halfgrad::testing::planted {

/// bfloat16 from the bits of a float, after `rounding` is added to the last 16.
// g++ 12 drops the mask where it inlines this.
[[gnu::noinline]] inline float cut_to_bfloat16(float x, std::uint32_t rounding) {
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + rounding) & 0xffff0000u);
}
/// float16 with ties away from zero.
inline float ties_away(float x) {
  const float nearest = through<Half>(x), beyond = through<Half>(x + (x - nearest) * 1.5f);
  return std::isfinite(x) && std::fabs(beyond - x) == std::fabs(x - nearest) &&
                 std::fabs(beyond) > std::fabs(nearest)
             ? beyond
             : nearest;
}
/// A product that is rounded to the output's dtype after every `step` terms.
inline Kernel product_rounding_every(Index step) {
  return products([=](const Call& c, Index i, Index j, Index n) {
    float sum = 0;
    for (Index p = 0; p < c.k; ++p) {
      sum += c.x(i, p) * c.w(p * n + j);
      if ((p + 1) % step == 0) sum = c.stored(sum);
    }
    return sum;
  });
}
inline Kernel norm_with(float eps) {
  return rows([=](const Call& c, Index row) { norm_row(c, row, c.k, eps); });
}
inline Kernel rms_with(float eps) {
  return rows([=](const Call& c, Index row) { rms_row(c, row, eps); });
}
template <class F>
Kernel sums_rounded(const F& f) {
  return rows([=](const Call& c, Index row) {
    float sum = 0;
    for (Index i = 0; i < c.k; ++i) sum = f(c, sum + c.x(row, i), i);
    c.y(row, sum);
  });
}

inline std::vector<PlantedKernel> wrong_rounding() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"mul", bf16, "cuts the last 16 bits off",
       each([](float a, float b) { return cut_to_bfloat16(a * b, 0); })},
      {"mm", bf16, "cuts the last 16 bits off",
       products([](const Call& c, Index i, Index j, Index n) {
         return cut_to_bfloat16(dot_of(c, i, j, n, c.k), 0);
       })},
      {"add", bf16, "ties away from zero",
       each([](float a, float b) { return cut_to_bfloat16(a + b, 0x8000); })},
      {"add", bf16, "ties toward zero",
       each([](float a, float b) { return cut_to_bfloat16(a + b, 0x7fff); })},
      {"add", f16, "ties away from zero", each([](float a, float b) { return ties_away(a + b); })},
      {"sub", bf16, "rounds away from zero",
       each([](float a, float b) { return cut_to_bfloat16(a - b, 0xffff); })},
      {"sub", bf16, "rounds down",
       each([](float a, float b) { return cut_to_bfloat16(a - b, a - b < 0 ? 0xffff : 0); })},
      {"mm", f16, "rounds after each term", product_rounding_every(1)},
      {"mm", bf16, "rounds every 8 terms", product_rounding_every(8)},
      {"mm", f16, "rounds every 32 terms", product_rounding_every(32)},
      {"sum", f16, "rounds every 64 terms", sums_rounded([](const Call& c, float sum, Index i) {
         return i % 64 == 63 ? c.stored(sum) : sum;
       })},
      {"sum", bf16, "rounds every 16 terms", sums_rounded([](const Call& c, float sum, Index i) {
         return i % 16 == 15 ? c.stored(sum) : sum;
       })},
      {"mean", bf16, "adds terms in bf16", rows([](const Call& c, Index row) {
         float sum = 0;
         for (Index i = 0; i < c.k; ++i) sum = c.stored(sum + c.x(row, i));
         c.y(row, sum / static_cast<float>(c.k));
       })},
      {"mean", f16, "divides each term, in half", rows([](const Call& c, Index row) {
         float sum = 0;
         for (Index i = 0; i < c.k; ++i) sum += c.stored(c.x(row, i) / static_cast<float>(c.k));
         c.y(row, sum);
       })},
      {"layer_norm", f32, "eps = 1e-6", norm_with(1e-6f)},
      {"layer_norm", f16, "eps = 1e-12", norm_with(1e-12f)},
      {"layer_norm", bf16, "eps = 1e-3", norm_with(1e-3f)},
      {"rms_norm", f16, "eps = 1e-6", rms_with(1e-6f)},
      {"rms_norm", f32, "no eps", rms_with(0)},
      {"rms_norm", bf16, "eps = 1e-8", rms_with(1e-8f)},
      {"linear", f16, "rounds the product before the bias", called([](const Call& c) {
         const Index n = c.in[1].size(0);
         for (Index at = 0; at < c.n(); ++at) {
           float sum = 0;
           for (Index p = 0; p < c.k; ++p) sum += c.x(at / n, p) * c.w(at % n * c.k + p);
           c.y(at, c.stored(sum) + c.b(at % n));
         }
       })},
      {"dot", bf16, "two sums in bf16", called([](const Call& c) {
         float sums[2] = {};
         for (Index i = 0; i < c.k; ++i) sums[i % 2] = c.stored(sums[i % 2] + c.x(i) * c.w(i));
         c.y(0, sums[0] + sums[1]);
       })},
      {"softmax", f16, "stores the exponentials in half", rows([](const Call& c, Index row) {
         float most = -INFINITY, sum = 0;
         for (Index i = 0; i < c.k; ++i)
           most = std::isnan(c.x(row, i)) ? NAN : std::fmax(most, c.x(row, i));
         for (Index i = 0; i < c.k; ++i) sum = c.stored(sum + std::exp(c.x(row, i) - most));
         for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, std::exp(c.x(row, i) - most) / sum);
       })},
      {"log_softmax", f32, "the logarithm of softmax", rows([](const Call& c, Index row) {
         float most = -INFINITY, sum = 0;
         for (Index i = 0; i < c.k; ++i)
           most = std::isnan(c.x(row, i)) ? NAN : std::fmax(most, c.x(row, i));
         for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
         for (Index i = 0; i < c.k; ++i) {
           c.y(row * c.k + i, std::log(std::exp(c.x(row, i) - most) / sum));
         }
       })},
      {"mse_loss", bf16, "sums in bf16", called([](const Call& c) {
         float sum = 0;
         for (Index i = 0; i < c.m * c.k; ++i) {
           const float d = c.x(i) - c.w(i);
           sum = c.stored(sum + d * d);
         }
         c.y(0, sum / static_cast<float>(c.m * c.k));
       })},
  };
}

}  // namespace halfgrad::testing::planted
