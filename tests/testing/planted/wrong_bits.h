#pragma once

#include <bit>
#include <cmath>

#include <halfgrad/tests/testing/planted/call.h>

/// Kernels that are wrong in the sign of a zero, the bits of a NaN, or a few last elements.
namespace halfgrad::testing::planted {

inline std::vector<PlantedKernel> wrong_bits() {
  const DType f32 = kFloat32;
  return {
      {"neg", f32, "0 - x", each([](float x, float) { return 0 - x; })},
      {"abs", f32, "-x below 0", each([](float x, float) { return x < 0 ? -x : x; })},
      {"ceil", f32, "by an integer", each([](float x, float) {
         if (!(std::fabs(x) < 1e6f)) return x;
         const int cut = static_cast<int>(x);
         return static_cast<float>(static_cast<float>(cut) < x ? cut + 1 : cut);
       })},
      {"round", f32, "floor(x + 0.5)", each([](float x, float) {
         const float below = std::floor(x), part = x - below;
         if (!(std::fabs(x) < 1e6f)) return x;
         if (part == 0.5f) return 2 * std::floor(below / 2 + 0.5f);
         return below + (part > 0.5f ? 1.0f : 0.0f);
       })},
  };
}

}  // namespace halfgrad::testing::planted
