#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include <halfgrad/tests/testing/planted/wrong_rounding.h>

/// Kernels that are wrong in the sign of a zero, the bits of a NaN, or a few last elements.
namespace halfgrad::testing::planted {

/// f(x, w) in whole vectors of 8, and last(x, w) for the elements that are left.
template <class F, class Last>
Kernel vectors_of_8(const F& f, const Last& last) {
  return called([=](const Call& c) {
    const std::int64_t end = c.n() / 8 * 8;
    for (std::int64_t i = 0; i < c.n(); ++i) {
      c.y(i, i < end ? f(c.x(i), c.w(i)) : last(c.x(i), c.w(i)));
    }
  });
}

inline std::vector<PlantedKernel> wrong_bits() {
  const DType f32 = kFloat32, bf16 = kBFloat16;
  return {
      {"neg", f32, "0 - x", each([](float x, float) { return 0 - x; })},
      {"abs", f32, "-x below 0", each([](float x, float) { return x < 0 ? -x : x; })},
      {"ceil", f32, "by an integer", each([](float x, float) {
         if (!(std::fabs(x) < 0x1p23f)) return x;
         // Not volatile, g++ may compile float(int(x)) as trunc(x), which keeps the sign of zero.
         const volatile int cut = static_cast<int>(x);
         return static_cast<float>(static_cast<float>(cut) < x ? cut + 1 : cut);
       })},
      {"round", f32, "floor(x + 0.5)", each([](float x, float) {
         const float below = std::floor(x), part = x - below;
         if (!(std::fabs(x) < 0x1p23f)) return x;
         if (part == 0.5f) return 2 * std::floor(below / 2 + 0.5f);
         return below + (part > 0.5f ? 1.0f : 0.0f);
       })},
      {"argsort", f32, "equal values change places", rows([](const Call& c, std::int64_t row) {
         std::vector<std::int64_t> order(static_cast<std::size_t>(c.k));
         std::iota(order.begin(), order.end(), std::int64_t{0});
         std::sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
           const float a = c.x(row, i), b = c.x(row, j);
           return a < b || (std::isnan(b) && !std::isnan(a));
         });
         for (std::int64_t i = 0; i < c.k; ++i) {
           c.y(row * c.k + i, static_cast<float>(order[static_cast<std::size_t>(i)]));
         }
       })},
      {"mul", bf16, "cuts bits off in the last n % 8 elements",
       vectors_of_8([](float x, float w) { return x * w; },
                    [](float x, float w) { return cut_to_bfloat16(x * w, 0); })},
      {"add", bf16, "ties away from zero in the last n % 8 elements",
       vectors_of_8([](float x, float w) { return x + w; },
                    [](float x, float w) { return cut_to_bfloat16(x + w, 0x8000); })},
  };
}

}  // namespace halfgrad::testing::planted
