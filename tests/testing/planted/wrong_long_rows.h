#pragma once

#include <algorithm>
#include <bit>

#include <halfgrad/tests/testing/planted/wrong_rounding.h>

/// Kernels with a second way for long rows, which is wrong: few values reach it.
namespace halfgrad::testing::planted {

inline constexpr Index kLongRow = 6000;

/// The sum of squared deviations of a long row is E[x^2] - E[x]^2.
inline void norm_of_long_row(const Call& c, Index row) {
  if (c.k < kLongRow) return norm_row(c, row, c.k, 1e-5f);
  const auto count = static_cast<float>(c.k);
  const float mean = sum_of(c, row, 0, c.k) / count;
  float squares = 0;
  for (Index i = 0; i < c.k; ++i) squares += c.x(row, i) * c.x(row, i);
  const float variance = std::fmax(squares / count - mean * mean, 0.0f);
  const float scale = std::isnan(mean) ? mean : 1 / std::sqrt(variance + 1e-5f);
  for (Index i = 0; i < c.k; ++i) {
    c.y(row * c.k + i, (c.x(row, i) - mean) * scale * c.w(i) + c.b(i));
  }
}

/// exp(x - max), where the maximum is that of the first elements.
inline void softmax_by_max_of(const Call& c, Index row, Index end) {
  float most = -INFINITY, sum = 0;
  for (Index i = 0; i < c.k; ++i) {
    const float x = c.x(row, i);
    if (std::isnan(x) || std::isinf(x) || i < end) {
      most = std::isnan(x) || std::isnan(most) ? NAN : std::fmax(most, x);
    }
  }
  for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
  for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, std::exp(c.x(row, i) - most) / sum);
}

/// mm whose factors are rounded by f where k is large.
template <class F>
Kernel products_of_rounded(const F& f) {
  return products([f](const Call& c, Index i, Index j, Index n) {
    if (c.k < kLongRow) return dot_of(c, i, j, n, c.k);
    float sum = 0;
    for (Index p = 0; p < c.k; ++p) sum += f(c.x(i, p)) * f(c.w(p * n + j));
    return sum;
  });
}
/// x with 11 bits, as tensor cores read it.
inline float tf32_of(float x) {
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000u) & 0xffffe000u);
}

inline std::vector<PlantedKernel> wrong_long_rows() {
  const DType f32 = kFloat32;
  return {
      {"layer_norm", f32, "E[x^2] - E[x]^2 in long rows", rows(norm_of_long_row)},
      {"softmax", f32, "the maximum of the first 8192 elements",
       rows([](const Call& c, Index row) { softmax_by_max_of(c, row, 8192); })},
      {"argmax", f32, "the last of equal blocks", rows([](const Call& c, Index row) {
         Index best = 0;
         for (Index i = 1; i < c.k && !std::isnan(c.x(row, best)); ++i) {
           const float x = c.x(row, i), most = c.x(row, best);
           if (!(x <= most) || (x == most && i % kLongRow == 0)) best = i;
         }
         c.y(row, static_cast<float>(best));
       })},
      {"sum", f32, "the first element of each block twice", rows([](const Call& c, Index row) {
         float sum = sum_of(c, row, 0, c.k);
         for (Index i = kLongRow; i < c.k; i += kLongRow) sum += c.x(row, i);
         c.y(row, sum);
       })},
      {"mm", f32, "factors in bfloat16 where k is large", products_of_rounded(through<BFloat16>)},
      {"mm", f32, "factors in TensorFloat-32 where k is large", products_of_rounded(tf32_of)},
      {"mm", f32, "three products of bfloat16", products_of_rounded([](float x) {
         if (!std::isfinite(x) || std::fabs(x) > 1e30f || std::fabs(x) < 1e-30f) return x;
         const float high = through<BFloat16>(x);
         return high + through<BFloat16>(x - high);
       })},
      {"cross_entropy", f32, "forgets the last rows of many", called([](const Call& c) {
         double total = 0;
         const Index end = c.m > kLongRow ? c.m / 256 * 256 : c.m;
         for (Index row = 0; row < end; ++row) {
           float most = -INFINITY, sum = 0;
           for (Index i = 0; i < c.k; ++i) {
             most = std::isnan(c.x(row, i)) ? NAN : std::fmax(most, c.x(row, i));
           }
           for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
           const Index target = c.in[1].data_as<std::int64_t>()[row];
           total += most - c.x(row, target) + std::log(sum);
         }
         c.y(0, static_cast<float>(total / static_cast<double>(c.m)));
       })},
  };
}

}  // namespace halfgrad::testing::planted
