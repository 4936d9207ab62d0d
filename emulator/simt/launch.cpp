#include <halfgrad/emulator/simt/launch.h>

#include <chrono>
#include <cstring>
#include <optional>

#include <halfgrad/emulator/memory/constant_reads.h>
#include <halfgrad/emulator/simt/child_launches.h>
#include <halfgrad/emulator/simt/grid_run.h>
#include <halfgrad/emulator/simt/grid_state.h>
#include <halfgrad/emulator/simt/step_printer.h>

namespace halfgrad::emulator {
namespace {

/// Memory of cooperative groups' grid barrier (cooperative_groups/details/info.h): the size of the
/// workspace, then a barrier of 32 bits that is 0 at first.
class GridWorkspace {
 public:
  explicit GridWorkspace(Launch& launch) : memory_(launch.machine.memory) {
    if (!launch.request.cooperative) return;
    constexpr std::uint32_t kBytes = 64;
    allocation_ = memory_.allocate(MemoryKind::device, launch.machine.device, kBytes, 256,
                                   "a cooperative launch");
    if (allocation_ == nullptr) {
      throw std::runtime_error("cooperative launch: no device memory is left for its barrier");
    }
    std::memset(allocation_->host, 0, kBytes);
    std::memcpy(allocation_->host, &kBytes, sizeof kBytes);
    if (allocation_->written != nullptr) std::memset(allocation_->written, 1, kBytes);
    launch.workspace = allocation_;
  }
  ~GridWorkspace() {
    if (allocation_ != nullptr) memory_.free(allocation_->begin);
  }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;

 private:
  Allocations& memory_;
  const Allocation* allocation_ = nullptr;
};

bool uses_reserved_shared(const Kernel& kernel) {
  for (const Function* const function : kernel.functions) {
    for (const Function::SpecialUse& use : function->specials) {
      if (use.special >= Special::reserved_smem_begin &&
          use.special <= Special::reserved_smem_offset_1) {
        return true;
      }
    }
  }
  return false;
}

/// The reserved bytes follow after a gap, so an index that is a little too large stays an error.
std::size_t after_gap(std::size_t shared_bytes) {
  constexpr std::size_t kGap = 4096, kAlignment = 1024;
  return (shared_bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
}

void lay_out_shared_memory(Launch& launch) {
  const Kernel& kernel = launch.request.kernel;
  const std::size_t alignment = std::max<std::size_t>(kernel.dynamic_shared_alignment, 1);
  const std::size_t begin = (kernel.static_shared_bytes + alignment - 1) / alignment * alignment;
  const bool dynamic = launch.request.dynamic_shared_bytes != 0;
  launch.dynamic_shared_begin = begin;
  launch.shared_bytes =
      dynamic ? begin + launch.request.dynamic_shared_bytes : kernel.static_shared_bytes;
  if (uses_reserved_shared(kernel)) launch.reserved_shared_begin = after_gap(launch.shared_bytes);
}

/// Blocks that a GPU holds at the same time (CUDA C++ Programming Guide, "Technical
/// Specifications").
std::uint64_t resident_blocks(const Launch& launch) {
  constexpr std::size_t kThreads = 2048, kBlocks = 32;
  const std::size_t threads =
      (launch.request.block.product() + kWarpSize - 1) / kWarpSize * kWarpSize;
  std::size_t blocks = std::min(kBlocks, kThreads / threads);
  if (launch.shared_bytes != 0) {
    blocks = std::min(blocks, launch.machine.shared_bytes_per_block / launch.shared_bytes);
  }
  return std::max<std::size_t>(blocks, 1) * launch.machine.multiprocessors;
}

/// Tells the check of streams what the grid has loaded from constant memory, as one operation.
void check_constants(const LaunchRequest& request, const Machine& machine,
                     const ConstantReads& reads) {
  for (const ConstantReads::Range& range : reads.ranges()) {
    check_range(machine.findings, machine.memory, *request.order, request.operation, range.address,
                range.bytes, AccessKind::load);
  }
}

}  // namespace

LaunchCounters run(const Machine& machine, const LaunchRequest& request,
                   std::exception_ptr* failure) {
  return run_with_children(machine, request, failure);
}

LaunchCounters run_one_grid(Launch& launch, std::exception_ptr& failure) {
  const auto begin = std::chrono::steady_clock::now();
  const LaunchRequest& request = launch.request;
  lay_out_shared_memory(launch);
  const GridWorkspace workspace(launch);
  GridState grid(launch);
  grid.resident_limit = request.cooperative ? GridState::kNone : resident_blocks(launch);
  grid.step = steps_through(launch);
  const bool checks_streams = launch.machine.settings.check_race && request.order != nullptr;
  std::optional<ConstantReads> constants;
  if (checks_streams) constants.emplace(request.module);
  if (checks_streams && constants->has_variables()) launch.constant_reads = &*constants;
  LaunchCounters counters = run_grid(grid);
  launch.constant_reads = nullptr;
  if (checks_streams) check_constants(request, launch.machine, *constants);
  failure = grid.failure();
  counters.blocks = grid.blocks;
  counters.warps = grid.blocks * ((request.block.product() + kWarpSize - 1) / kWarpSize);
  counters.host_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return counters;
}

}  // namespace halfgrad::emulator
