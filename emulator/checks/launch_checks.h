#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {

/// Lanes of one warp that take part in a barrier.
struct Arrival {
  Warp* warp;
  LaneMask lanes;
};

/// The checks that watch memory accesses: races (by happens-before, so the order in which the
/// emulator runs threads does not matter) and reads of uninitialised memory. One object serves a
/// launch; blocks of the launch call it from several host threads.
class LaunchChecks {
 public:
  LaunchChecks(Launch& launch, OperationId operation, const OperationOrder* order);
  ~LaunchChecks();

  void block_starts(Block& block);
  void block_ends(Block& block);

  /// An access that resolve() found to be in bounds. Shared addresses are byte offsets; global ones
  /// are device addresses. Called once for each space of a generic access, with that part of the
  /// mask in `execution.mask`.
  void access(Execution& execution, const Instruction& instruction, const Access& access,
              const LaneAddresses& addresses, const HostPointers& pointers,
              const std::byte* stored);

  /// Lanes of a warp synchronised: bar.warp.sync, shuffles, votes, matches, reductions.
  void warp_synchronised(Warp& warp, LaneMask lanes);
  /// Lanes arrived at block barrier `id` (a release); bar.sync and bar.arrive.
  void barrier_arrive(Block& block, unsigned id, Arrival arrival);
  /// The barrier completed: these lanes continue (an acquire of all arrivals since the last
  /// completion).
  void barrier_complete(Block& block, unsigned id, std::span<const Arrival> waiters);
  /// membar, fence.
  void fence(Execution& execution, Order order, Scope scope);
  /// An asynchronous copy into shared memory was issued by, or its completion waited for by, a
  /// lane.
  void async_copy_issued(Execution& execution, const Instruction& instruction, unsigned lane,
                         std::uint32_t shared_offset, unsigned bytes);
  void async_copy_waited(Execution& execution, unsigned lane, std::uint32_t shared_offset,
                         unsigned bytes);

  /// An asynchronous copy that an mbarrier counts has landed: its phase orders those who wait for
  /// it.
  void async_copy_landed(Execution& execution, std::uint32_t shared_offset, unsigned bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A range that a copy, memset, library call or the host accesses as one operation.
void check_range(FindingLog& findings, Allocations& memory, const OperationOrder& order,
                 OperationId operation, std::uint64_t address, std::size_t bytes, AccessKind kind);

/// Records that an operation makes or frees a range: like a store, except that nothing is written.
void check_lifetime(FindingLog& findings, Allocations& memory, const OperationOrder& order,
                    OperationId operation, std::uint64_t address, std::size_t bytes);

/// Drops the history of a range that is freed.
void forget_range(const Allocations& memory, std::uint64_t address, std::size_t bytes);

}  // namespace halfgrad::emulator
