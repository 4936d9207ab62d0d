#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <halfgrad/emulator/ptx/instructions/matrix_descriptor.h>

namespace halfgrad::emulator {

inline constexpr unsigned kChunksAlongK = 2;      ///< 32 bytes of each row along m or n
inline constexpr unsigned kElementsOf16Bits = 8;  ///< in each chunk

/// Shared addresses of the 16-byte chunks of one operand of wgmma that a warp reads.
class OperandChunks {
 public:
  /// Chunks of `rows` rows along m or n, from `first_row` on: row after row if the elements along k
  /// are adjacent, else k after k.
  OperandChunks(const MatrixDescriptor& matrix, Major major, unsigned first_row, unsigned rows);

  std::span<const std::uint32_t> addresses() const { return {addresses_.data(), count_}; }

 private:
  static constexpr unsigned kMost = 2 * 256;  // B of 256 columns of 32 bytes
  std::array<std::uint32_t, kMost> addresses_;
  unsigned count_ = 0;
};

}  // namespace halfgrad::emulator
