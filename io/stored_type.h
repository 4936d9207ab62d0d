#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/core/dtype.h>

namespace halfgrad::io::detail {

/// The integers that files store and tensors lack. Each is read as int64, which holds all of them.
enum class ShortInteger : std::uint8_t { i8, i16, u16, u32 };

/// Bytes of one element in a file.
constexpr std::int64_t stored_size(DType dtype, std::optional<ShortInteger> stored) {
  if (!stored) return item_size(dtype);
  return *stored == ShortInteger::i8 ? 1 : *stored == ShortInteger::u32 ? 4 : 2;
}

}  // namespace halfgrad::io::detail
