#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <halfgrad/emulator/ptx/encoder.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// The 16-byte chunks of shared memory that a bulk copy to global memory reads.
class BulkSource {
 public:
  explicit BulkSource(const Execution& execution) : shared_(execution.block->shared.data()) {}

  /// Adds bytes at a place in the memory of the own block.
  void add(const std::byte* place, std::uint32_t bytes);
  std::vector<std::uint32_t> take() { return std::move(chunks_); }

 private:
  const std::byte* shared_;
  std::vector<std::uint32_t> chunks_;
};

/// Keeps in mind that a lane's copy may read these chunks until the lane waits for its group.
void note_bulk_read(Execution& execution, const Instruction& instruction, unsigned lane,
                    BulkSource& source);

/// The lane's last copy of the warp writes these bytes of global memory.
void note_bulk_write(Execution& execution, unsigned lane, std::uint64_t address,
                     std::uint32_t bytes);

/// cp.async.bulk.commit_group;  cp.async.bulk.wait_group{.read} N;
void decode_bulk_group(Encoder& encoder);

}  // namespace halfgrad::emulator
