#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <halfgrad/emulator/ptx/function.h>
#include <halfgrad/emulator/simt/bulk_reads.h>
#include <halfgrad/emulator/simt/counters.h>
#include <halfgrad/emulator/simt/execution.h>
#include <halfgrad/emulator/simt/warpgroup_products.h>

namespace halfgrad::emulator {

/// The registers and parameter memory of a function that lanes of a warp run. Lanes that call the
/// same function at the same depth share a frame, even if different places called it: each lane has
/// its own column of every register and its own return address.
struct Frame {
  struct Return {
    Frame* caller = nullptr;
    const Call* call = nullptr;
    std::uint32_t pc = 0;  ///< index of the caller's next instruction
  };

  const Function* function = nullptr;
  std::byte* registers = nullptr;
  std::byte* parameters = nullptr;  ///< 32 x function->parameter_bytes
  std::uint32_t depth = 0;          ///< 0 for the kernel
  std::uint32_t local_begin = 0;    ///< byte offset of this frame in a lane's local memory
  std::array<Return, kWarpSize> returns;
};

/// A cp.async that was issued and has not landed. Its bytes are read when it is issued.
struct AsyncCopy {
  std::uint32_t shared_offset = 0;
  std::uint8_t bytes = 0;
  std::array<std::byte, 16> data{};
};

/// Asynchronous copies of one lane: committed groups, oldest first, then the open group.
struct AsyncGroups {
  std::vector<std::vector<AsyncCopy>> committed;
  std::vector<AsyncCopy> open;
};

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

/// Lanes that exited, and the last instruction of the kernel that they executed before.
struct ExitedLanes {
  LaneMask lanes = 0;
  std::uint32_t last_pc = kNowhere;
};

/// Asynchronous copies whose completion an mbarrier waits for. They land when its phase completes.
struct BarrierCopy {
  std::uint32_t barrier = 0;    ///< byte offset of the mbarrier in shared memory
  std::uint32_t bytes = 0;      ///< amount to subtract from the mbarrier's transaction count
  std::uint32_t arrivals = 0;   ///< amount to subtract from the mbarrier's pending count
  unsigned warp = 0, lane = 0;  ///< the warp and lane that issued the copies
  std::uint32_t shared_offset = 0;
  std::vector<std::byte> data;        ///< bytes of a bulk copy
  std::vector<AsyncCopy> parts;       ///< copies issued by cp.async
  Block* source = nullptr;            ///< the block whose shared memory a bulk copy reads
  std::vector<std::uint32_t> chunks;  ///< byte offsets of 16-byte chunks there
};

/// Lanes at one place of the program. A warp has one until its lanes diverge.
struct LaneGroup {
  enum class State : std::uint8_t { ready, waits_for_lanes, waits_at_barrier };
  std::uint32_t pc = 0;
  LaneMask mask = 0;
  Frame* frame = nullptr;
  State state = State::ready;
  std::uint8_t barrier = 0;
  bool passed = false;  ///< ran for long while others of the warp were ready: they go first
  std::uint32_t branch_from = 0, branch_to = 0;  ///< last branch taken; from kNowhere: unknown
  std::uint32_t run_length = 0;  ///< units of time while others were ready, see WarpRun
  LaneMask needed = 0;           ///< lanes that a *.sync waits for
};

/// The last wait of a lane at an mbarrier, if its phase was not complete.
struct MbarrierWait {
  const Block* owner = nullptr;  ///< the block whose shared memory has the mbarrier; nullptr: none
  std::uint32_t offset = 0;      ///< byte offset of the mbarrier
  bool phase = false;            ///< parity of the phase that the lane waits for
};

/// The state of a warp while its block runs.
struct Warp {
  Block* block = nullptr;
  unsigned index = 0;  ///< index in the block
  LaneMask alive = 0;
  std::vector<LaneGroup> groups;
  std::vector<ExitedLanes> exited;
  std::byte* local = nullptr;  ///< local memory: 32 x local_stride bytes
  std::size_t local_stride = 0;
  std::array<AsyncGroups, kWarpSize> async;
  WarpgroupProducts products;
  BulkReads bulk_reads;
  std::array<MbarrierWait, kWarpSize> mbarrier_waits;
  LaneMask cluster_arrived = 0;  ///< lanes that the open phase of the cluster's barrier counts
  LaneMask cluster_owing = 0;    ///< lanes that arrived there and have not waited
  void* check_state = nullptr;   ///< private data of LaunchChecks
};

/// The state of a thread block while it runs.
struct Block {
  Launch* launch = nullptr;
  Dim3 index;
  std::uint64_t number = 0;         ///< linear index in the grid, from 0; x varies fastest
  std::span<Block* const> cluster;  ///< the blocks of the cluster, by rank
  Dim3 index_in_cluster{0, 0, 0};
  unsigned rank = 0;                 ///< in the cluster
  bool finished = false;             ///< all threads have exited
  std::uint64_t cluster_phases = 0;  ///< phases of the cluster's barrier that completed
  std::uint64_t cluster_waited = 0;  ///< the last one of them that a thread of the block waited for
  unsigned threads = 0;
  std::vector<Warp> warps;
  /// launch->shared_bytes bytes, each 0xA5 at first; then zeros, if CUDA's reserved bytes are used.
  std::vector<std::byte> shared;
  std::vector<InstructionCounters>* counters = nullptr;  ///< owned by the running host thread
  std::vector<BarrierCopy> barrier_copies;  ///< in the order of issue; empty when a block starts
  void* check_state = nullptr;              ///< private data of LaunchChecks
  bool polls_host_memory = false;           ///< by volatile loads or atomics, since it started
  std::uint64_t changes = 0;  ///< stores, and atomics that changed a value, since it started
};

/// Counters of the instruction that runs.
inline InstructionCounters& counters_of(const Execution& execution,
                                        const Instruction& instruction) {
  return (*execution.block->counters)[execution.frame->function->first_counter + instruction.index];
}

}  // namespace halfgrad::emulator
