#pragma once

#include <cstdint>
#include <string_view>

namespace halfgrad::report {

/// CRC-32C, the cyclic redundancy check with Castagnoli's polynomial (RFC 3720, appendix B.4).
/// zlib's CRC-32 has another polynomial.
std::uint32_t crc32c(std::string_view bytes);

/// The form in which TFRecord files store it: rotated right by 15 bits, plus a constant, because a
/// check of bytes that contain their own check finds fewer errors.
/// (tensorflow/core/lib/hash/crc32c.h)
constexpr std::uint32_t masked(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace halfgrad::report
