#pragma once

#include <cmath>

#include <halfgrad/emulator/ptx/instructions/float_values.h>

namespace halfgrad::emulator {

/// min and max with their modifiers. .NaN: a NaN operand makes the result NaN, otherwise a number
/// wins. .xorsign.abs: compares magnitudes, and the sign is the exclusive or of the signs.
template <bool Largest, bool KeepNan, bool XorSign>
struct Extremum {
  float operator()(float a, float b) const {
    const float x = XorSign ? std::fabs(a) : a, y = XorSign ? std::fabs(b) : b;
    const float chosen = canonical(Largest ? maximum(x, y) : minimum(x, y));
    const float result = KeepNan && (a != a || b != b) ? bits_to_float(F32::nan) : chosen;
    if (!XorSign) return result;
    const auto sign = (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) >> 31;
    return canonical(sign != 0 ? -result : result);
  }
  float operator()(float a, float b, float c) const { return (*this)((*this)(a, b), c); }
};

}  // namespace halfgrad::emulator
