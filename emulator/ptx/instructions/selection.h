#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

// A page writes each formula once, as a functor with a template operator(), and chooses its type
// here.

constexpr bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}
constexpr bool is_float(Type type) { return type == Type::f32 || type == Type::f64; }
constexpr bool is_packed_integer(Type type) { return type == Type::u16x2 || type == Type::s16x2; }

/// The class that counters put arithmetic of a type in.
constexpr InstructionClass class_of(Type type) {
  if (type == Type::f32) return InstructionClass::f32;
  if (type == Type::f64) return InstructionClass::f64;
  return is_half(type) ? InstructionClass::f16 : InstructionClass::integer;
}

/// Makes the statement unknown if it has a modifier that is neither a type nor `known`.
void only_modifiers(const Encoder& encoder, std::initializer_list<std::string_view> known);
/// Makes the statement unknown if it has not n operands.
void require_operands(const Encoder& encoder, unsigned n);
/// Sets `execute`, and makes the statement unknown if it is nullptr: no formula for the type.
void execute_with(Encoder& encoder, Execute execute);
/// One destination and n sources of the type.
void uniform_operands(Encoder& encoder, Type type, unsigned sources);
/// Number of types among the modifiers.
unsigned type_count(const Statement& statement);

/// The functor F on lanes of T with n sources of T.
template <class F, class T, unsigned Sources>
constexpr Execute uniform() {
  if constexpr (Sources == 1) return &lanewise<F, T, T>;
  if constexpr (Sources == 2) return &lanewise<F, T, T, T>;
  if constexpr (Sources == 3) return &lanewise<F, T, T, T, T>;
}

/// `uniform` for an integer type; untyped bits count as unsigned.
template <class F, unsigned Sources>
constexpr Execute for_integer(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return uniform<F, std::uint16_t, Sources>();
    case Type::s16:
      return uniform<F, std::int16_t, Sources>();
    case Type::b32:
    case Type::u32:
      return uniform<F, std::uint32_t, Sources>();
    case Type::s32:
      return uniform<F, std::int32_t, Sources>();
    case Type::b64:
    case Type::u64:
      return uniform<F, std::uint64_t, Sources>();
    case Type::s64:
      return uniform<F, std::int64_t, Sources>();
    default:
      return nullptr;
  }
}

/// `uniform` for bits of 16, 32 or 64, whatever they mean.
template <class F, unsigned Sources>
constexpr Execute for_bits(Type type) {
  switch (bytes_of(type)) {
    case 2:
      return uniform<F, std::uint16_t, Sources>();
    case 4:
      return uniform<F, std::uint32_t, Sources>();
    case 8:
      return uniform<F, std::uint64_t, Sources>();
    default:
      return nullptr;
  }
}

/// Calls f with the flag as a constant, so that a formula's modifiers are template arguments.
template <class F>
constexpr Execute with_constant(bool flag, F f) {
  return flag ? f(std::true_type{}) : f(std::false_type{});
}

/// Twice as many bits. Products of 64-bit integers need 128.
template <class T>
struct WiderOf;
__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;
template <>
struct WiderOf<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct WiderOf<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct WiderOf<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct WiderOf<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct WiderOf<std::uint64_t> {
  using type = Unsigned128;
};
template <>
struct WiderOf<std::int64_t> {
  using type = Signed128;
};
template <class T>
using Wider = typename WiderOf<T>::type;

/// The integer as an unsigned one whose arithmetic wraps: C++ leaves signed overflow undefined, and
/// computes 16-bit operands as int.
template <class T>
constexpr auto modular(T x) {
  if constexpr (sizeof(T) > 8) {
    return static_cast<Unsigned128>(x);
  } else {
    return static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(x);
  }
}

template <class T>
inline constexpr unsigned kBits = 8 * sizeof(T);

}  // namespace halfgrad::emulator
