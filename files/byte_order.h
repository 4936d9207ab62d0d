#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// Converts elements of `item` bytes between `order` and this machine's byte order, in place. Only
/// moves bytes, so a NaN keeps its bits.
inline void convert_order(std::span<std::byte> elements, std::size_t item, std::endian order) {
  if (order == std::endian::native || item == 1) return;
  for (std::size_t at = 0; at + item <= elements.size(); at += item) {
    std::reverse(elements.begin() + at, elements.begin() + at + item);
  }
}

/// Reads the value at `bytes`, which need not be aligned.
template <class T>
T load(const std::byte* bytes, std::endian order) {
  std::byte copy[sizeof(T)];
  std::memcpy(copy, bytes, sizeof(T));
  convert_order(copy, sizeof(T), order);
  T value;
  std::memcpy(&value, copy, sizeof(T));
  return value;
}

template <class T>
void store(T value, std::byte* bytes, std::endian order) {
  std::memcpy(bytes, &value, sizeof(T));
  convert_order({bytes, sizeof(T)}, sizeof(T), order);
}

}  // namespace halfgrad::files
