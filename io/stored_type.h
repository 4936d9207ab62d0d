#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/core/dtype.h>

namespace halfgrad::io::detail {

/// The unsigned integers that files store and tensors lack. Each is read as int64, which holds all
/// of them.
enum class Unsigned : std::uint8_t { u16, u32 };

/// Bytes of one element in a file.
constexpr std::int64_t stored_size(DType dtype, std::optional<Unsigned> stored) {
  if (!stored) return item_size(dtype);
  return *stored == Unsigned::u32 ? 4 : 2;
}

}  // namespace halfgrad::io::detail
