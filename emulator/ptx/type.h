#pragma once

#include <cstdint>

namespace halfgrad::emulator {

/// A type of PTX (PTX ISA, "Fundamental Types" and "Packed Data Types").
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,  // clang-format off
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  f16, bf16, tf32, f32, f64,
  f16x2, bf16x2, u16x2, s16x2,
  e4m3x2, e5m2x2,  // clang-format on
};

/// Bytes of one lane's value in memory; 4 for a predicate, 0 for `none`.
constexpr unsigned bytes_of(Type type) {
  switch (type) {
    case Type::none:
      return 0;
    case Type::b8:
    case Type::u8:
    case Type::s8:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2:
      return 2;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 8;
    case Type::b128:
      return 16;
    default:
      return 4;
  }
}

constexpr bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

}  // namespace halfgrad::emulator
