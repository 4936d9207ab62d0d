#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

/// Contents of files, for tests.
namespace halfgrad::tests {

using Bytes = std::vector<std::byte>;

inline Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

inline Bytes bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes zeros(std::size_t count) { return Bytes(count); }

/// Returns `value` in `size` bytes, little-endian.
inline Bytes little(unsigned long long value, int size) {
  Bytes result;
  for (int i = 0; i < size; ++i) result.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
  return result;
}

inline Bytes without_last(Bytes all, std::size_t count) {
  all.resize(all.size() - count);
  return all;
}

inline Bytes with_byte(Bytes all, std::size_t at, int value) {
  all.at(at) = static_cast<std::byte>(value);
  return all;
}

}  // namespace halfgrad::tests
