#pragma once

#include <cstddef>

namespace halfgrad::detail {

/// The set of these operands, as bits: operands(0, 2) is the first and the third.
constexpr unsigned operands(auto... i) { return (0U | ... | (1U << i)); }

/// The set of all operands from i on.
constexpr unsigned operands_from(unsigned i) { return ~0U << i; }

constexpr bool contains(unsigned set, std::size_t i) { return (set >> i & 1U) != 0; }

}  // namespace halfgrad::detail
