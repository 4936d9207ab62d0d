#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/checks/reads_in_flight.h>
#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {

struct Machine;
struct GlobalRange;

/// Lanes of one warp that take part in a barrier.
struct Arrival {
  Warp* warp;
  LaneMask lanes;
};

struct BlockTree;  // checks/clocks.h
/// Accesses that something is ordered after: a map from blocks to times. nullptr: none.
using KnownAccesses = std::shared_ptr<const BlockTree>;

/// The checks that watch memory accesses: races (by happens-before, so the order in which the
/// emulator runs threads does not matter) and reads of uninitialised memory. One object serves a
/// launch and the grids that its kernel launches; blocks call it from several host threads.
class LaunchChecks {
 public:
  LaunchChecks(const Machine& machine, OperationId operation, const OperationOrder* order);
  ~LaunchChecks();

  /// A grid starts. Its blocks are numbered from `launch.first_block` on, apart from those of other
  /// grids.
  void add_grid(Launch& launch);
  /// All accesses of a grid that has ended, and those in `before`.
  KnownAccesses accesses_of(const Launch& launch, KnownAccesses before) const;
  static KnownAccesses join(const KnownAccesses& a, const KnownAccesses& b);
  /// The accesses that these lanes did or are ordered after. Later ones are not among them.
  KnownAccesses release(Execution& execution);
  /// Returns what a relaxed arrival releases: the accesses before the last fence of each lane.
  KnownAccesses release_fenced(Execution& execution);
  /// Orders the lanes after these accesses.
  void acquire(Execution& execution, const KnownAccesses& accesses);

  void block_starts(Block& block);
  /// All blocks of the cluster have ended.
  void block_ends(Block& block);
  /// Reports accesses of other blocks that nothing orders before the block's end. Call before
  /// block_ends() of any block of the cluster.
  void check_lifetime(Block& block);

  /// An access that resolve() found to be in bounds. Shared addresses are byte offsets; global ones
  /// are device addresses. Called once for each space of a generic access, with that part of the
  /// mask in `execution.mask`.
  void access(Execution& execution, const Instruction& instruction, const Access& access,
              const LaneAddresses& addresses, const HostPointers& pointers,
              const std::byte* stored);
  /// An access to shared memory of `owner`, maybe another block of the cluster.
  void access_of_cluster(Execution& execution, const Instruction& instruction, const Access& access,
                         const LaneAddresses& addresses, const HostPointers& pointers,
                         const std::byte* stored, Block& owner);

  /// Lanes of a warp synchronised: bar.warp.sync, matches.
  void warp_synchronised(Warp& warp, LaneMask lanes);
  /// Lanes of a warp executed a shuffle, vote, reduction or matrix instruction together,
  /// which orders none of their accesses to memory.
  void warp_met(Warp& warp, LaneMask lanes);
  /// Lanes arrived at block barrier `id` (a release); bar.sync and bar.arrive. Returns whether they
  /// are ordered after the barrier's last completion.
  bool barrier_arrive(Block& block, unsigned id, Arrival arrival);
  /// The barrier completed: these lanes continue (an acquire of all arrivals since the last
  /// completion). A `counted` barrier waits for this count of arrivals, whoever has exited.
  void barrier_complete(Block& block, unsigned id, std::span<const Arrival> waiters, bool counted);
  /// A phase of the mbarrier at this offset in shared memory of `owner` completed.
  void phase_completed(Block& owner, std::uint32_t shared_offset);
  /// A lane waited for a phase, and is ordered after the arrivals of all completed ones.
  void phase_waited(Execution& execution, unsigned lane, const Access& access, Block& owner,
                    std::uint32_t shared_offset);
  /// membar, fence. `sequential`: sequentially consistent, as membar and fence.sc are.
  void fence(Execution& execution, bool sequential, Scope scope);
  /// A product of wgmma or a bulk copy that reads these 16-byte chunks of shared memory was issued
  /// by a lane, or waited for.
  void async_read_issued(Execution& execution, const Instruction& instruction, AsyncReader reader,
                         unsigned lane, std::span<const std::uint32_t> chunks);
  void async_read_waited(Execution& execution, std::span<const std::uint32_t> chunks);
  /// A lane waited until its bulk copies had written these ranges of global memory.
  void async_writes_waited(Execution& execution, unsigned lane,
                           std::span<const GlobalRange> ranges);
  /// griddepcontrol.wait: the grids that a programmatic dependent launch overlaps have ended.
  void grids_waited(Execution& execution);
  /// fence.proxy.async, or fence.mbarrier_init if `of_mbarriers`.
  void proxy_fence(Execution& execution, bool of_mbarriers = false);
  /// An asynchronous reduction in shared memory of `owner` has ended, which is such a fence, too.
  void async_reduction_landed(Block& owner);
  void mbarrier_initialised(Execution& execution, unsigned lane, Block& owner,
                            std::uint32_t shared_offset, const Instruction& instruction);
  /// A lane issues an asynchronous copy that signals the mbarrier.
  void mbarrier_used_by_copy(Execution& execution, const Instruction& instruction, unsigned lane,
                             Block& owner, std::uint32_t shared_offset);
  /// An asynchronous copy into shared memory of `owner` was issued by, or its completion waited for
  /// by, a lane.
  void async_copy_issued(Execution& execution, const Instruction& instruction, unsigned lane,
                         Block& owner, std::uint32_t shared_offset, unsigned bytes);
  void async_copy_waited(Execution& execution, unsigned lane, std::uint32_t shared_offset,
                         unsigned bytes);

  /// An asynchronous copy that an mbarrier counts has landed: its phase orders those who wait for
  /// it.
  void async_copy_landed(Execution& execution, std::uint32_t shared_offset, unsigned bytes);

 private:
  void note_use(Execution& execution, const Instruction& instruction, Block& owner);
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
