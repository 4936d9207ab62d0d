#pragma once

#include <halfgrad/emulator/ptx/instructions/float_values.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

namespace halfgrad::emulator {

constexpr bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

/// A modifier that rounds to an integer: .rni .rzi .rmi .rpi.
inline bool rounds_to_integer(const Statement& statement) {
  return statement.has("rni") || statement.has("rzi") || statement.has("rmi") ||
         statement.has("rpi");
}

// Decode functions of conversions between two kinds of types.
void integer_to_integer(Encoder& encoder, Type result, Type source);
void integer_to_float(Encoder& encoder, Type result, Type source);
void float_to_integer(Encoder& encoder, Type result, Type source);
void float_to_float(Encoder& encoder, Type result, Type source);
void to_tf32(Encoder& encoder);
void to_pair(Encoder& encoder, Type result, Type source);

/// Appends a source of an integer type from a register that may be larger, and returns the untyped
/// type of the register's size.
Type integer_source(Encoder& encoder, unsigned i, Type type);
/// Appends a destination of an integer type, by the same rules as integer_source().
Type integer_destination(Encoder& encoder, unsigned i, Type type);

// Readers of each float type. They convert the value to double, which is exact.
template <class Format>
struct ReadHalf {
  using Bits = std::uint16_t;
  static double read(std::uint16_t x) { return widen<Format>(x); }
};
struct ReadSingle {
  using Bits = float;
  static double read(float x) { return x; }
};
struct ReadDouble {
  using Bits = double;
  static double read(double x) { return x; }
};

/// Calls f with the reader of a float type; f returns an Execute.
template <class F>
Execute with_reader(Type type, F f) {
  switch (type) {
    case Type::f16:
      return f(ReadHalf<F16>{});
    case Type::bf16:
      return f(ReadHalf<BF16>{});
    case Type::f32:
      return f(ReadSingle{});
    case Type::f64:
      return f(ReadDouble{});
    default:
      return nullptr;
  }
}

/// Calls f with a rounding mode as a constant.
template <class F>
Execute with_rounding(Rounding rounding, F f) {
  switch (rounding) {
    case Rounding::nearest:
      return f(std::integral_constant<Rounding, Rounding::nearest>{});
    case Rounding::zero:
      return f(std::integral_constant<Rounding, Rounding::zero>{});
    case Rounding::down:
      return f(std::integral_constant<Rounding, Rounding::down>{});
    case Rounding::up:
      return f(std::integral_constant<Rounding, Rounding::up>{});
    default:
      return nullptr;
  }
}

/// Calls f with a C++ integer type of PTX's type.
template <class F>
Execute with_integer(Type type, F f) {
  switch (type) {
    case Type::u8:
      return f(std::uint8_t{});
    case Type::s8:
      return f(std::int8_t{});
    case Type::b16:
    case Type::u16:
      return f(std::uint16_t{});
    case Type::s16:
      return f(std::int16_t{});
    case Type::b32:
    case Type::u32:
      return f(std::uint32_t{});
    case Type::s32:
      return f(std::int32_t{});
    case Type::b64:
    case Type::u64:
      return f(std::uint64_t{});
    case Type::s64:
      return f(std::int64_t{});
    default:
      return nullptr;
  }
}

/// x rounded to an integer of the same type.
template <Rounding R>
double integral(double x) {
  switch (R) {
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

}  // namespace halfgrad::emulator
