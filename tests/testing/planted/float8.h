#pragma once

#include <cmath>
#include <vector>

#include <halfgrad/tests/testing/planted/calls.h>

/// Conversions to and from fp8 by arithmetic in float, right ones and ones with a usual mistake.
namespace halfgrad::testing::planted {

/// e4m3fn for 4 bits of exponent, e5m2 for 5.
template <int kExponentBits>
struct Float8 {
  static constexpr int kFractionBits = 7 - kExponentBits, kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr float kLargest = kExponentBits == 4 ? 448 : 57344;
  static constexpr int kNan = kExponentBits == 4 ? 0x7f : 0x7e;
  static constexpr int kLargestCode = kExponentBits == 4 ? 0x7e : 0x7b;

  static int encoded(float x, int mistake) {
    const int sign = std::signbit(x) ? 0x80 : 0;
    if (std::isnan(x)) return mistake == 6 ? kLargestCode : sign | kNan;
    float a = std::fabs(x);
    if (mistake == 4) a = std::fmin(a, kExponentBits == 4 ? 240.0F : 49152.0F);
    if (mistake == 10 && std::isinf(a)) return sign | kNan;
    if (mistake == 3 && a > kLargest) return sign | (kLargestCode + 1);
    if (a >= kLargest) return sign | kLargestCode;
    if (mistake == 5 && a < std::ldexp(1.0F, 1 - kBias)) return sign;
    const int exponent = a == 0 ? 1 - kBias : std::max(std::ilogb(a), 1 - kBias);
    const float steps = std::ldexp(a, kFractionBits - exponent);
    const float whole = mistake == 1   ? std::trunc(steps)
                        : mistake == 2 ? std::round(steps)
                                       : std::nearbyint(steps);
    return sign | (((exponent + kBias - 1) << kFractionBits) + static_cast<int>(whole));
  }

  static float decoded(int code, int mistake) {
    const float sign = (code & 0x80) != 0 ? -1 : 1;
    const int magnitude = code & 0x7f, exponent = magnitude >> kFractionBits;
    const int fraction = magnitude & ((1 << kFractionBits) - 1);
    if (magnitude > kLargestCode && mistake != 2) {
      const bool infinite = kExponentBits == 5 && fraction == 0;
      return infinite ? sign * std::numeric_limits<float>::infinity() : std::nanf("");
    }
    if (exponent == 0 && mistake == 1) return 0;
    const int hidden = exponent == 0 ? 0 : 1 << kFractionBits;
    return sign * std::ldexp(static_cast<float>(fraction + hidden),
                             std::max(exponent, 1) - kBias - kFractionBits);
  }
};

/// The scale of an element; with mistake 8 that of another row.
inline float scale_of(const Calls& c, I i, int mistake) {
  if (c.in[1].ndim() == 0) return c.x(1, 0);
  const I rows = c.size(0, 0), row = i / c.size(0, 1);
  return c.x(1, mistake == 8 ? (row + 1) % rows : row);
}

template <int kExponentBits>
void quantize_float8(const Calls& c, int mistake) {
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float scale = scale_of(c, i, mistake);
    float x = mistake == 7 ? c.x(0, i) / scale : c.x(0, i) * scale;
    if (mistake == 9) x = through<Half>(x);
    if (mistake == -1) {  // clamps before it converts
      x = x > Float8<kExponentBits>::kLargest    ? Float8<kExponentBits>::kLargest
          : x < -Float8<kExponentBits>::kLargest ? -Float8<kExponentBits>::kLargest
                                                 : x;
    }
    c.out[0].data_as<std::uint8_t>()[i] =
        static_cast<std::uint8_t>(Float8<kExponentBits>::encoded(x, mistake));
  }
}

template <int kExponentBits>
void dequantize_float8(const Calls& c, int mistake) {
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float scale = scale_of(c, i, mistake);
    const float x = Float8<kExponentBits>::decoded(c.in[0].data_as<std::uint8_t>()[i], mistake);
    c.y(0, i, mistake == 7 ? x / scale : x * scale);
  }
}

inline std::vector<BackwardKernel> float8_kernels() {
  constexpr bool kOnlyInFloat32 = true;
  const auto e4m3 = quantize_float8<4>, e5m2 = quantize_float8<5>;
  const auto from_e4m3 = dequantize_float8<4>, from_e5m2 = dequantize_float8<5>;
  const char *const to_e4m3_rows = "quantize_rows_float8_e4m3fn",
                    *const to_e5m2_rows = "quantize_rows_float8_e5m2",
                    *const to_e4m3 = "quantize_float8_e4m3fn",
                    *const to_e5m2 = "quantize_float8_e5m2";
  return {
      {to_e4m3, 0, "right", e4m3},
      {to_e4m3, -1, "clamps first", e4m3},
      {to_e4m3, 1, "truncates", e4m3},
      {to_e4m3, 2, "ties away from zero", e4m3},
      {to_e4m3, 3, "does not saturate", e4m3},
      {to_e4m3, 4, "largest value of e4m3fnuz", e4m3},
      {to_e4m3, 5, "flushes subnormals", e4m3},
      {to_e4m3, 6, "largest value for NaN", e4m3},
      {to_e4m3, 7, "divides by the scale", e4m3},
      {to_e4m3, 9, "by way of fp16", e4m3, kOnlyInFloat32},
      {to_e4m3, 10, "NaN for infinity", e4m3},
      {to_e5m2, 0, "right", e5m2},
      {to_e5m2, 1, "truncates", e5m2},
      {to_e5m2, 2, "ties away from zero", e5m2},
      {to_e5m2, 3, "infinity for too large values", e5m2},
      {to_e5m2, 4, "largest value too small", e5m2},
      {to_e5m2, 5, "flushes subnormals", e5m2},
      {to_e5m2, 6, "largest value for NaN", e5m2},
      {to_e5m2, 7, "divides by the scale", e5m2},
      {to_e4m3_rows, 0, "right", e4m3},
      {to_e4m3_rows, 2, "ties away from zero", e4m3},
      {to_e4m3_rows, 8, "scale of the next row", e4m3},
      {to_e5m2_rows, 0, "right", e5m2},
      {to_e5m2_rows, 5, "flushes subnormals", e5m2},
      {to_e5m2_rows, 8, "scale of the next row", e5m2},
      {"dequantize_float8_e4m3fn", 0, "right", from_e4m3},
      {"dequantize_float8_e4m3fn", 1, "0 for subnormals", from_e4m3},
      {"dequantize_float8_e4m3fn", 2, "480 for NaN", from_e4m3},
      {"dequantize_float8_e4m3fn", 7, "divides by the scale", from_e4m3},
      {"dequantize_float8_e5m2", 0, "right", from_e5m2},
      {"dequantize_float8_e5m2", 1, "0 for subnormals", from_e5m2},
      {"dequantize_float8_e5m2", 2, "65536 for infinity", from_e5m2},
      {"dequantize_rows_float8_e4m3fn", 0, "right", from_e4m3},
      {"dequantize_rows_float8_e4m3fn", 7, "divides by the scale", from_e4m3},
      {"dequantize_rows_float8_e4m3fn", 8, "scale of the next row", from_e4m3},
      {"dequantize_rows_float8_e5m2", 0, "right", from_e5m2},
      {"dequantize_rows_float8_e5m2", 1, "0 for subnormals", from_e5m2},
      {"dequantize_rows_float8_e5m2", 8, "scale of the next row", from_e5m2},
  };
}

}  // namespace halfgrad::testing::planted
