#pragma once

#include <cstdint>

namespace halfgrad::emulator {

/// Order of an operand's elements in shared memory: elements along k are adjacent, or elements
/// along m (of A) or n (of B) are, which the modifiers call transposed.
enum class Major : std::uint8_t { k, mn };

/// A matrix descriptor of wgmma (PTX ISA, "Matrix Descriptor Format"): 64 bits that say where an
/// operand lies in shared memory. Memory is in chunks of 16 bytes. Offsets are in bytes.
///
/// Without a swizzle, 8 chunks of 8 rows are adjacent (a core matrix of 8 x 16 bytes). With a
/// swizzle of S = 32, 64 or 128 bytes, 8 rows of S bytes are adjacent, and the place of a chunk in
/// its row is exclusive-ored with the row, so that a column of chunks lies in different banks:
///
///     address ^= (address / 128 mod (S / 16)) * 16
struct MatrixDescriptor {
  std::uint32_t start = 0;           ///< bits 0..13, times 16
  std::uint32_t leading_offset = 0;  ///< bits 16..29, times 16
  std::uint32_t stride_offset = 0;   ///< bits 32..45, times 16
  unsigned base_offset = 0;          ///< bits 49..51
  unsigned swizzle = 0;              ///< bits 62..63: 0 none, 1 128, 2 64, 3 32 bytes; here bytes

  static MatrixDescriptor from_bits(std::uint64_t bits);

  /// Address of a chunk of an operand of which the elements along k are adjacent: of row `row`
  /// along m or n, the `chunk`-th 16 bytes along k.
  std::uint32_t chunk_along_k(unsigned row, unsigned chunk) const;
  /// Address of a chunk of an operand of which 8 elements along m or n are adjacent: the `chunk`-th
  /// of them, at `k`.
  std::uint32_t chunk_along_mn(unsigned chunk, unsigned k) const;

 private:
  std::uint32_t place(std::uint32_t offset) const;
};

}  // namespace halfgrad::emulator
