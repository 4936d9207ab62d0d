#pragma once

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/ptx/instructions/mbarrier_word.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// An mbarrier of the cluster that runs: reads the word, and writes it back when destroyed.
class MbarrierAccess {
 public:
  /// `place` is where resolve() found the word; throws KernelAborted if it is not in shared memory.
  MbarrierAccess(Execution& execution, const Instruction& instruction, unsigned lane,
                 std::byte* place);
  ~MbarrierAccess();
  MbarrierAccess(const MbarrierAccess&) = delete;
  MbarrierAccess& operator=(const MbarrierAccess&) = delete;

  MbarrierWord word;
  /// The block in whose shared memory the mbarrier lies.
  Block& owner() const { return *owner_; }
  /// Byte offset there.
  std::uint32_t offset() const { return offset_; }
  /// Lets the asynchronous copies land if nothing else is missing from the phase, which completes
  /// it. Returns whether any copy landed.
  bool let_copies_land();
  /// Counts arrivals; throws KernelAborted if the phase expects fewer.
  void arrive(std::uint32_t count);

 private:
  Execution& execution_;
  const Instruction& instruction_;
  unsigned lane_;
  std::byte* place_;
  Block* owner_ = nullptr;
  std::uint32_t offset_;
};

/// Whether copies of the block may land: nothing else is missing from the phase of their mbarrier.
bool has_copies_to_land(const Block& block);

}  // namespace halfgrad::emulator
