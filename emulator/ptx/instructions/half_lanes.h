#pragma once

#include <cstdint>

#include <halfgrad/emulator/ptx/instructions/float_values.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

namespace halfgrad::emulator {

/// .ftz of a half: a subnormal becomes a zero of the same sign.
template <class Format>
constexpr std::uint16_t flush_half(std::uint16_t x) {
  return static_cast<std::uint16_t>((x & Format::infinity) == 0 ? x & 0x8000 : x);
}

/// A formula on one half applied to both halves of f16x2 or bf16x2.
template <class F>
struct Packed {
  template <class... T>
  std::uint32_t operator()(T... operands) const {
    const std::uint32_t low = F{}(static_cast<std::uint16_t>(operands)...);
    const std::uint32_t high = F{}(static_cast<std::uint16_t>(operands >> 16)...);
    return high << 16 | low;
  }
};

/// A formula F<Format> for the four types of halves. Other types: nullptr.
template <template <class> class F, unsigned Sources>
Execute for_half(Type type) {
  switch (type) {
    case Type::f16:
      return uniform<F<F16>, std::uint16_t, Sources>();
    case Type::bf16:
      return uniform<F<BF16>, std::uint16_t, Sources>();
    case Type::f16x2:
      return uniform<Packed<F<F16>>, std::uint32_t, Sources>();
    case Type::bf16x2:
      return uniform<Packed<F<BF16>>, std::uint32_t, Sources>();
    default:
      return nullptr;
  }
}

}  // namespace halfgrad::emulator
