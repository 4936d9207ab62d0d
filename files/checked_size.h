#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// Returns `item` times the product of the sizes, or nullopt if it exceeds 2^63 - 1. Sizes of 0
/// count as 1 in this check, so that the strides fit in 64 bits, too.
inline std::optional<std::uint64_t> checked_size(std::span<const std::uint64_t> sizes,
                                                 std::int64_t item) {
  std::int64_t product = item;
  bool is_empty = false;
  for (const std::uint64_t size : sizes) {
    is_empty |= size == 0;
    const std::uint64_t factor = std::max<std::uint64_t>(size, 1);
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return is_empty ? 0 : product;
}

}  // namespace halfgrad::files
