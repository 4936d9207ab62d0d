#include <halfgrad/emulator/ptx/instructions/matrix_descriptor.h>

#include <halfgrad/emulator/ptx/instructions/matrix_values.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kRows = 8;  // rows of a core matrix, and of the pattern of a swizzle

/// Bits begin .. begin + 13 of a descriptor hold a number of chunks.
std::uint32_t bytes_at(std::uint64_t bits, unsigned begin) {
  return static_cast<std::uint32_t>(bits >> begin & 0x3fff) * kChunkBytes;
}

}  // namespace

MatrixDescriptor MatrixDescriptor::from_bits(std::uint64_t bits) {
  constexpr unsigned kSwizzles[] = {0, 128, 64, 32};
  return {.start = bytes_at(bits, 0),
          .leading_offset = bytes_at(bits, 16),
          .stride_offset = bytes_at(bits, 32),
          .base_offset = static_cast<unsigned>(bits >> 49 & 7),
          .swizzle = kSwizzles[bits >> 62]};
}

std::uint32_t MatrixDescriptor::chunk_along_k(unsigned row, unsigned chunk) const {
  const std::uint32_t group = row / kRows * stride_offset;
  if (swizzle == 0) return place(group + row % kRows * kChunkBytes + chunk * leading_offset);
  return place(group + row % kRows * swizzle + chunk * kChunkBytes);
}

std::uint32_t MatrixDescriptor::chunk_along_mn(unsigned chunk, unsigned k) const {
  if (swizzle == 0) {
    return place(chunk * stride_offset + k % kRows * kChunkBytes + k / kRows * leading_offset);
  }
  const unsigned per_row = swizzle / kChunkBytes;
  return place(chunk / per_row * leading_offset + chunk % per_row * kChunkBytes +
               k % kRows * swizzle + k / kRows * stride_offset);
}

std::uint32_t MatrixDescriptor::place(std::uint32_t offset) const {
  const std::uint32_t address = start + offset;
  if (swizzle == 0) return address;
  const std::uint32_t row = address / 128 % (swizzle / kChunkBytes);
  return address ^ row * kChunkBytes;
}

}  // namespace halfgrad::emulator
