#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <halfgrad/emulator/ptx/type.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {

/// Comparison operators (PTX ISA, "Comparisons"). The last eight are true for NaN operands, except
/// `num`. lo, ls, hi and hs of unsigned integers are lt, le, gt and ge.
enum class Comparison : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};
std::optional<Comparison> comparison_named(std::string_view name);

/// The lanes for which a comparison is true: `second` for the high half of packed operands, and for
/// others the lanes where it is false.
struct Compared {
  LaneMask first, second;
};

/// Compares 32 lanes at a and b.
using CompareLanes = Compared (*)(const std::byte* a, const std::byte* b);

/// nullptr if the type has no such comparison.
CompareLanes compare_lanes(Type type, Comparison comparison, bool ftz);

}  // namespace halfgrad::emulator
