#include <halfgrad/emulator/ptx/instructions/operand_chunks.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kDepthOfTransposed = 16;  // only 16-bit elements may be transposed

}  // namespace

OperandChunks::OperandChunks(const MatrixDescriptor& matrix, Major major, unsigned first_row,
                             unsigned rows) {
  if (major == Major::k) {
    for (unsigned row = first_row; row < first_row + rows; ++row) {
      for (unsigned i = 0; i < kChunksAlongK; ++i) {
        addresses_[count_++] = matrix.chunk_along_k(row, i);
      }
    }
    return;
  }
  const unsigned first = first_row / kElementsOf16Bits, count = rows / kElementsOf16Bits;
  for (unsigned k = 0; k < kDepthOfTransposed; ++k) {
    for (unsigned i = first; i < first + count; ++i) {
      addresses_[count_++] = matrix.chunk_along_mn(i, k);
    }
  }
}

}  // namespace halfgrad::emulator
