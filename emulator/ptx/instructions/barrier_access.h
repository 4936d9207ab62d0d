#pragma once

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/ptx/instructions/barrier_word.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// An mbarrier of the block that runs: reads the word, and writes it back when destroyed.
class BarrierAccess {
 public:
  /// `place` is where resolve() found the word; throws KernelAborted if it is not in shared memory.
  BarrierAccess(Execution& execution, const Instruction& instruction, unsigned lane,
                std::byte* place);
  ~BarrierAccess();
  BarrierAccess(const BarrierAccess&) = delete;
  BarrierAccess& operator=(const BarrierAccess&) = delete;

  BarrierWord word;
  /// Byte offset in shared memory.
  std::uint32_t offset() const { return offset_; }
  /// Completes the phase if only asynchronous copies are missing: lets them land, for `lane`.
  /// Returns whether any did.
  bool let_copies_land();
  /// Counts arrivals; throws KernelAborted if the phase does not wait for so many.
  void arrive(std::uint32_t count);

 private:
  Execution& execution_;
  const Instruction& instruction_;
  unsigned lane_;
  std::byte* place_;
  std::uint32_t offset_;
};

}  // namespace halfgrad::emulator
