#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include <halfgrad/emulator/ptx/instructions/float_formats.h>

namespace halfgrad::emulator {

enum class AtomicOperation : std::uint8_t {
  add,
  min,
  max,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  increment,
  decrement,
  exchange,
  compare_and_swap,
};

/// A value of 16 bits in a format, and two of them in 32 bits.
template <class Format>
struct Half {
  std::uint16_t bits;
};
template <class Format>
struct HalfPair {
  std::array<Half<Format>, 2> half;
};

/// The value, or a zero of its sign if it is subnormal.
inline float flush_subnormal(float x) {
  const bool subnormal = std::fabs(x) < std::numeric_limits<float>::min();
  return subnormal ? std::copysign(0.0f, x) : x;
}

/// Returns the value that replaces `old`. If `flush`, subnormal values of f32 count as 0.
template <AtomicOperation Op, std::integral T>
T combine(T old, T operand, bool) {
  using U = std::make_unsigned_t<T>;
  switch (Op) {
    case AtomicOperation::add:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(operand));
    case AtomicOperation::min:
      return std::min(old, operand);
    case AtomicOperation::max:
      return std::max(old, operand);
    case AtomicOperation::bitwise_and:
      return old & operand;
    case AtomicOperation::bitwise_or:
      return old | operand;
    case AtomicOperation::bitwise_xor:
      return old ^ operand;
    case AtomicOperation::increment:
      return old >= operand ? T{0} : static_cast<T>(old + 1);
    case AtomicOperation::decrement:
      return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
    default:
      return operand;
  }
}

/// Returns the minimum or maximum, as `Op` says. A NaN is ignored if the other value is not NaN.
/// -0 is less than +0.
template <AtomicOperation Op, std::floating_point T>
T smaller_or_larger(T a, T b) {
  if (a == b) return std::signbit(a) == (Op == AtomicOperation::min) ? a : b;
  return Op == AtomicOperation::min ? std::fmin(a, b) : std::fmax(a, b);
}

template <AtomicOperation Op, std::floating_point T>
T combine(T old, T operand, bool flush) {
  if constexpr (Op == AtomicOperation::add && std::same_as<T, float>) {
    if (flush) return flush_subnormal(flush_subnormal(old) + flush_subnormal(operand));
    return old + operand;
  } else if constexpr (Op == AtomicOperation::add) {
    return old + operand;
  } else if constexpr (Op == AtomicOperation::min || Op == AtomicOperation::max) {
    return smaller_or_larger<Op>(old, operand);
  } else {
    return operand;
  }
}

/// The sum in double has more than twice the digits of the format, so rounding twice is rounding
/// once.
template <AtomicOperation Op, class Format>
Half<Format> combine(Half<Format> old, Half<Format> operand, bool flush) {
  const double result =
      combine<Op, double>(widen<Format>(old.bits), widen<Format>(operand.bits), flush);
  return {static_cast<std::uint16_t>(narrow<Format, Rounding::nearest>(result))};
}

template <AtomicOperation Op, class Format>
HalfPair<Format> combine(HalfPair<Format> old, HalfPair<Format> operand, bool flush) {
  return {{combine<Op>(old.half[0], operand.half[0], flush),
           combine<Op>(old.half[1], operand.half[1], flush)}};
}

/// Bits of a result. f32 instructions give one NaN, whatever NaN went in.
template <class Bits, class T>
Bits result_bits(T value) {
  if constexpr (std::same_as<T, float>) {
    if (value != value) return F32::nan;
  }
  return std::bit_cast<Bits>(value);
}

}  // namespace halfgrad::emulator
