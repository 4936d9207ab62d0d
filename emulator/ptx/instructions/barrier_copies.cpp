#include <halfgrad/emulator/ptx/instructions/barrier_copies.h>

#include <utility>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/cluster_address.h>
#include <halfgrad/emulator/ptx/instructions/mbarrier_access.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {
namespace {

/// The block of the cluster that a shared address means; resolve() has checked its rank.
Block& owner_of(const Execution& execution, std::uint64_t address) {
  const std::uint64_t rank = (address & 0xffffffffu) >> kRankShift;
  return rank == 0 ? *execution.block : *execution.block->cluster[rank - 1];
}

/// Finds the word of an mbarrier.
std::byte* locate_barrier(const Execution& execution, const Instruction& instruction, unsigned lane,
                          std::uint64_t address) {
  Execution one = execution;
  one.mask = LaneMask{1} << lane;
  LaneAddresses addresses{};
  addresses[lane] = address;
  return resolve(one, instruction,
                 {.space = Space::shared,
                  .kind = AccessKind::atomic,
                  .bytes = sizeof(std::uint64_t),
                  .alignment = sizeof(std::uint64_t),
                  .order = Order::relaxed,
                  .scope = Scope::cluster},
                 addresses)
      .lane[lane];
}

/// Gives the copy to its mbarrier, which lies in the block with the address `to`.
Block& give_to_barrier(Execution& execution, const Instruction& instruction, unsigned lane,
                       std::uint64_t to, std::uint64_t barrier_address, BarrierCopy copy,
                       SignalPath path) {
  std::byte* const place = locate_barrier(execution, instruction, lane, barrier_address);
  const MbarrierAccess barrier(execution, instruction, lane, place);
  Block& owner = owner_of(execution, to);
  if (&owner != &barrier.owner()) {
    abort_kernel(execution, instruction, lane, FindingKind::async_copy,
                 "a copy into the shared memory of one block, with an mbarrier of another");
  }
  LaunchChecks* const checks = execution.launch->checks.get();
  if (checks != nullptr && path == SignalPath::bulk_copy) {
    checks->mbarrier_used_by_copy(execution, instruction, lane, owner, barrier.offset());
  }
  copy.barrier = barrier.offset();
  copy.warp = execution.warp->index;
  copy.lane = lane;
  owner.barrier_copies.push_back(std::move(copy));
  return owner;
}

}  // namespace

Block& issue_copy(Execution& execution, const Instruction& instruction, unsigned lane,
                  unsigned alignment, std::uint64_t to, std::uint64_t barrier,
                  const std::vector<std::byte>& data, SignalPath path) {
  const auto bytes = static_cast<std::uint32_t>(data.size());
  const auto offset = static_cast<std::uint32_t>(to & kOffsetMask);
  each_piece(execution, instruction, lane,
             {.space = Space::shared,
              .kind = AccessKind::store,
              .alignment = static_cast<std::uint8_t>(alignment),
              .asynchronous = true},
             to, bytes, data.data(), [](std::byte*, std::uint32_t, std::uint32_t) {});
  BarrierCopy copy;
  copy.bytes = bytes;
  copy.shared_offset = offset;
  copy.data = data;
  Block& owner = give_to_barrier(execution, instruction, lane, to, barrier, std::move(copy), path);
  if (LaunchChecks* const checks = execution.launch->checks.get()) {
    checks->async_copy_issued(execution, instruction, lane, owner, offset, bytes);
  }
  return owner;
}

void complete_bytes(Execution& execution, const Instruction& instruction, unsigned lane,
                    std::uint64_t to, std::uint64_t barrier, std::uint32_t bytes, SignalPath path) {
  BarrierCopy copy;
  copy.bytes = bytes;
  give_to_barrier(execution, instruction, lane, to, barrier, std::move(copy), path);
}

}  // namespace halfgrad::emulator
