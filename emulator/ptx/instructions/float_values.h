#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {

/// The rounding modifier of a statement; .rn if it has none.
inline Rounding rounding_of(const Statement& statement) {
  if (statement.has("rz") || statement.has("rzi")) return Rounding::zero;
  if (statement.has("rm") || statement.has("rmi")) return Rounding::down;
  if (statement.has("rp") || statement.has("rpi")) return Rounding::up;
  return statement.has("rna") ? Rounding::nearest_away : Rounding::nearest;
}

inline float bits_to_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Instructions on f32 produce one NaN only. Those on f64 keep the payload of an operand.
inline float canonical(float x) { return x == x ? x : bits_to_float(F32::nan); }
inline double canonical(double x) { return x; }

/// .ftz: subnormal operands and results become zeros of the same sign.
inline float flush(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return bits_to_float((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
inline double flush(double x) { return x; }
template <bool Ftz, class T>
T flush_if(T x) {
  if constexpr (Ftz) return flush(x);
  return x;
}

/// .sat: clamps to [0, 1]; NaN becomes +0.
template <class T>
T saturate(T x) {
  const T above = x > 0 ? x : T{0};
  return above < 1 ? above : T{1};
}

/// PTX's minimum: a number wins over NaN, and -0 is less than +0.
template <class T>
T minimum(T a, T b) {
  const T zero = std::signbit(a) ? a : b;
  const T lower = a < b ? a : b < a ? b : zero;
  return a != a ? b : b != b ? a : lower;
}
template <class T>
T maximum(T a, T b) {
  const T zero = std::signbit(a) ? b : a;
  const T higher = a > b ? a : b > a ? b : zero;
  return a != a ? b : b != b ? a : higher;
}

}  // namespace halfgrad::emulator
