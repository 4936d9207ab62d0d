// Order of threads: barriers, fences, and launches of grids by kernels.
#include <algorithm>
#include <array>
#include <utility>

#include <halfgrad/emulator/checks/launch_state.h>
#include <halfgrad/emulator/checks/report.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kMbarrierBytes = 8;

/// The mbarrier's word in a cell of the shadow, or nullptr if no strong write made it one.
ContendedWord* word_of(ShadowPage& page, const Cell& cell) {
  return page.is_live(cell.write) && cell.write.listed ? &page.contended(cell.write) : nullptr;
}

}  // namespace

void LaunchChecks::add_grid(Launch& launch) {
  launch.first_block = state_->races.grids().add(launch.request);
}

KnownAccesses LaunchChecks::accesses_of(const Launch& launch, KnownAccesses before) const {
  if (!state_->check_race) return nullptr;
  constexpr Clock kEver = ~Clock{0};
  const std::uint64_t blocks = std::min<std::uint64_t>(launch.request.grid.product(), kBlockMask);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const Tree all = leaf((launch.first_block + i) & kBlockMask, ThreadClocks(kEver));
    before = halfgrad::emulator::join(before, all);
  }
  return before;
}

KnownAccesses LaunchChecks::join(const KnownAccesses& a, const KnownAccesses& b) {
  return halfgrad::emulator::join(a, b);
}

KnownAccesses LaunchChecks::release(Execution& execution) {
  if (!state_->check_race) return nullptr;
  BlockKnowledge& block = state_of(*execution.block).knowledge;
  WarpKnowledge& warp = block.warps[execution.warp->index];
  warp.take_observed(execution.mask, true);
  // Threads that the block does not have did nothing, so they count as known.
  ThreadClocks absent;
  absent.raise(execution.block->threads, ~0u, ~Clock{0});
  const Tree tree = warp.release(execution.mask, block.clock++);
  return halfgrad::emulator::join(tree, leaf(block.number, std::move(absent)));
}

void LaunchChecks::acquire(Execution& execution, const KnownAccesses& accesses) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(*execution.block).knowledge;
  block.warps[execution.warp->index].acquire(execution.mask, accesses, block.clock);
}

void LaunchChecks::warp_synchronised(Warp& warp, LaneMask lanes) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(*warp.block).knowledge;
  block.warps[warp.index].synchronise(lanes, block.clock++);
}

void LaunchChecks::warp_met(Warp& warp, LaneMask lanes) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(*warp.block).knowledge;
  block.warps[warp.index].meet(lanes, block.clock++);
}

bool LaunchChecks::barrier_arrive(Block& block, unsigned id, Arrival arrival) {
  return !state_->check_race || state_of(block).knowledge.arrive(id, arrival);
}

void LaunchChecks::barrier_complete(Block& block, unsigned id, std::span<const Arrival> waiters,
                                    bool counted) {
  if (!state_->check_race) return;
  BlockState& state = state_of(block);
  // Other blocks of a cluster are not ordered after the readers.
  const bool alone = block.cluster.size() <= 1;
  if (state.knowledge.complete(block, id, waiters, counted) && alone) state.readers.forget();
}

// Who waits for a phase of an mbarrier is ordered after the arrivals of that phase, not after those
// that a later phase has already counted (PTX ISA, "mbarrier.test_wait").
void LaunchChecks::phase_completed(Block& owner, std::uint32_t shared_offset) {
  if (!state_->check_race) return;
  state_of(owner).each_cell(shared_offset, kMbarrierBytes, [](ShadowPage& page, const Cell& cell) {
    ContendedWord* const word = word_of(page, cell);
    if (word == nullptr) return;
    Released& phase = word->released;
    word->completed.device = join(word->completed.device, phase.device);
    word->completed.fenced = join(word->completed.fenced, phase.fenced);
    if (word->completed.block_number != phase.block_number) word->completed.block = nullptr;
    word->completed.block = join(word->completed.block, phase.block);
    word->completed.block_number = phase.block_number;
    phase = Released();
  });
}

void LaunchChecks::phase_waited(Execution& execution, unsigned lane, const Access& access,
                                Block& owner, std::uint32_t shared_offset) {
  if (!state_->check_race) return;
  WarpKnowledge& warp = state_of(*execution.block).knowledge.warps[execution.warp->index];
  const bool device = access.scope != Scope::cta;
  state_of(owner).each_cell(shared_offset, kMbarrierBytes, [&](ShadowPage& page, const Cell& cell) {
    const ContendedWord* const word = word_of(page, cell);
    if (word == nullptr) return;
    if (device) warp.await(lane, word->completed.fenced);
    if (access.order == Order::acquire) {
      warp.acquire(lane, word->completed, device);
    } else {
      warp.observe(lane, word->completed, device);
    }
  });
}

void LaunchChecks::fence(Execution& execution, bool sequential, Scope scope) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(*execution.block).knowledge;
  block.warps[execution.warp->index].fence(execution.mask, scope != Scope::cta, sequential,
                                           block.clock++);
}

void LaunchChecks::grids_waited(Execution& execution) {
  if (!state_->check_race) return;
  state_of(*execution.block).knowledge.waited_for_grids = true;
  for (Block* block : execution.block->cluster) {
    if (block->check_state != nullptr) state_of(*block).knowledge.waited_for_grids = true;
  }
  const LaunchRequest& request = execution.launch->request;
  if (request.order != nullptr) request.order->note_wait(request.operation);
}

void LaunchChecks::proxy_fence(Execution& execution, bool of_mbarriers) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(*execution.block).knowledge;
  const Clock now = block.clock++;
  Knowledge known =
      block.warps[execution.warp->index].complete(first_lane(execution.mask), execution.mask, now);
  block.proxy_fences.fence(execution.warp->index * kWarpSize, execution.mask, std::move(known.own),
                           now, of_mbarriers);
}

void LaunchChecks::async_reduction_landed(Block& owner) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(owner).knowledge;
  block.proxy_fences.complete(block.clock++);
}

void LaunchChecks::mbarrier_initialised(Execution& execution, unsigned lane, Block& owner,
                                        std::uint32_t shared_offset,
                                        const Instruction& instruction) {
  if (!state_->check_race) return;
  BlockKnowledge& block = state_of(owner).knowledge;
  const bool own = &owner == execution.block;
  block.proxy_fences.initialise(shared_offset,
                                {.thread = execution.warp->index * kWarpSize + lane,
                                 .time = own ? block.clock : Clock{0},
                                 .place = execution.frame->function->places[instruction.index]});
}

void LaunchChecks::mbarrier_used_by_copy(Execution& execution, const Instruction& instruction,
                                         unsigned lane, Block& owner, std::uint32_t shared_offset) {
  if (!state_->check_race) return;
  const BlockKnowledge& block = state_of(owner).knowledge;
  const ProxyFences::Init init = block.proxy_fences.init_of(shared_offset);
  if (init.time == 0) return;
  WarpKnowledge& warp = state_of(*execution.block).knowledge.warps[execution.warp->index];
  const unsigned issuer = execution.warp->index * kWarpSize + lane;
  const auto is_before = [&](unsigned thread, Clock clock) {
    if (&owner == execution.block && thread == issuer) return true;
    return warp.knows(lane, block.number, thread, clock);
  };
  const ProxyFences::Need need{.thread = init.thread,
                               .time = init.time,
                               .mbarrier = true,
                               .issuer = &owner == execution.block ? issuer : ProxyFences::kNobody};
  if (block.proxy_fences.follow(need, is_before)) return;
  const GridTable& grids = state_->races.grids();
  const std::string place = grids.place(block.number, init.place);
  // CUDA's own examples of cuda::memcpy_async with a cuda::barrier have no such fence.
  static constexpr std::array<const char*, 1> kFolders = {"/cuda/__barrier/"};
  report(execution, instruction, lane, FindingKind::race,
         "an asynchronous copy signals an mbarrier that it need not see: expected "
         "fence.mbarrier_init or fence.proxy.async after mbarrier.init, by the thread that "
         "initialised the mbarrier, and then a barrier",
         kSharedWindow | shared_offset,
         "mbarrier.init by " +
             grids.thread(block.number, init.thread, execution.launch->request.kernel) + " at " +
             place,
         is_in_headers(place, kFolders) ? Severity::note : Severity::error);
}

KnownAccesses LaunchChecks::release_fenced(Execution& execution) {
  if (!state_->check_race) return nullptr;
  const WarpKnowledge& warp = state_of(*execution.block).knowledge.warps[execution.warp->index];
  KnownAccesses released;
  each_lane(execution.mask, [&](unsigned lane) {
    released = halfgrad::emulator::join(released, warp.released_by_fence(lane, true));
  });
  return released;
}

}  // namespace halfgrad::emulator
