#include <halfgrad/emulator/checks/launch_checks.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <halfgrad/emulator/checks/initialisation.h>
#include <halfgrad/emulator/checks/launch_state.h>

namespace halfgrad::emulator {
namespace {

/// The shadow page of a global address. Remembers some pages for each host thread.
ShadowPage& global_page(GlobalShadow& shadow, std::uint64_t number) {
  struct Recent {
    GlobalShadow* shadow = nullptr;
    std::uint64_t number = 0;
    ShadowPage* page = nullptr;
  };
  thread_local std::array<Recent, 256> recent;
  Recent& entry = recent[number % recent.size()];
  if (entry.shadow != &shadow || entry.number != number || entry.page == nullptr) {
    entry = {&shadow, number, &shadow.page(number)};
  }
  return *entry.page;
}

/// Lanes among `rest` with the address of the first of them.
LaneMask lanes_at(const LaneAddresses& addresses, LaneMask rest) {
  const std::uint64_t address = addresses[first_lane(rest)];
  LaneMask equal = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    equal |= static_cast<LaneMask>(addresses[lane] == address) << lane;
  }
  return equal & rest;
}

bool ascending(const LaneAddresses& addresses, LaneMask mask) {
  if (mask != kAllLanes) return (mask & (mask - 1)) == 0;
  bool rises = true;
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    rises &= addresses[lane] > addresses[lane - 1];
  }
  return rises;
}

unsigned cell_log_for(std::uint64_t address, unsigned bytes) {
  const unsigned log = static_cast<unsigned>(std::countr_zero(address | bytes | 4u));
  return std::min(log, 2u);
}

}  // namespace

/// Visits the cells of one lane, or of several at the same address. The page is locked or private.
void LaunchChecks::State::visit_lane(ShadowPage& page, const Touch& touch, std::uint64_t address,
                                     LaneMask lanes) {
  const unsigned log = page.cell_log(), lane = first_lane(lanes);
  const unsigned begin = static_cast<unsigned>(address & (ShadowPage::kBytes - 1)) >> log;
  const unsigned end = begin + std::max(touch.access.bytes >> log, 1);
  const bool simple = !touch.strong && (lanes & (lanes - 1)) == 0;
  for (unsigned i = begin; i < end; ++i) {
    Cell& cell = page.cells()[i];
    RaceDetector::drop_known(cell, touch);
    if (touch.access.path != AccessPath::memory) races.check_cached(page, cell, touch, lanes);
    if (touch.access.asynchronous && !touch.write) races.check_proxy(page, cell, touch, lanes);
    const bool settled = simple && RaceDetector::is_settled(page, cell.write, touch, lane) &&
                         RaceDetector::is_settled(page, cell.read, touch, lane);
    if (!settled) {
      if (races.note_settled_load(page, cell, touch, lanes)) continue;
      races.visit(page, cell, touch, lanes);
    } else if (touch.write) {
      cell = {races.slot_of(page, touch, lane), Slot()};
    } else {
      cell.read = races.slot_of(page, touch, lane);
    }
    if (touch.write && touch.access.asynchronous && !cell.write.listed) {
      cell.write.asynchronous = true;
    }
  }
}

template <class PageOf, class Prepare>
void LaunchChecks::State::visit_lanes(const Touch& touch, const LaneAddresses& addresses,
                                      PageOf page_of, Prepare prepare) {
  const LaneMask mask = touch.execution.mask;
  const bool distinct = touch.pointers->contiguous || ascending(addresses, mask);
  LaneMask rest = mask;
  while (rest != 0) {
    const std::uint64_t number =
        (addresses[first_lane(rest)] & ~kWindowMask) >> ShadowPage::kBytesLog;
    ShadowPage& page = page_of(number);
    const PageLock lock(page);
    prepare(page);
    // All following lanes of this page, under one lock.
    while (rest != 0) {
      const std::uint64_t address = addresses[first_lane(rest)] & ~kWindowMask;
      if (address >> ShadowPage::kBytesLog != number) break;
      const LaneMask lanes = distinct ? rest & -rest : lanes_at(addresses, rest);
      const unsigned log = cell_log_for(address, touch.access.bytes);
      if (log < page.cell_log()) page.refine(log);
      if (touch.write && !touch.strong && (lanes & (lanes - 1)) != 0) {
        races.check_same_address(touch, lanes);
      }
      visit_lane(page, touch, address, lanes);
      rest &= ~lanes;
    }
  }
}

LaunchChecks::LaunchChecks(const Machine& machine, OperationId operation,
                           const OperationOrder* order)
    : state_(std::make_unique<State>(machine, operation, order)) {}
LaunchChecks::~LaunchChecks() = default;

void LaunchChecks::block_starts(Block& block) {
  BlockState* state = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->unused.empty()) {
      state_->blocks.push_back(std::make_unique<BlockState>());
      state_->unused.push_back(state_->blocks.back().get());
    }
    state = std::exchange(state_->unused.back(), nullptr);
    state_->unused.pop_back();
  }
  const std::size_t bytes = block.shared.size();
  const auto number = static_cast<std::uint32_t>(block.number) + block.launch->first_block;
  state->knowledge = BlockKnowledge(number & kBlockMask, static_cast<unsigned>(block.warps.size()),
                                    block.launch->known);
  state->serial = next_serial();
  state->readers.start_block();
  state->uses.clear();
  state->reads.clear();
  state->written.assign(block.launch->shared_bytes, std::byte{0});
  state->written.resize(bytes, std::byte{1});  // the bytes that CUDA reserves
  state->pages.resize((bytes >> ShadowPage::kBytesLog) + 1);
  const std::size_t local_bytes = block.launch->request.kernel.main->local_bytes;
  const bool checks_local = state_->check_init && local_bytes != 0;
  state->local_written.resize(checks_local ? block.warps.size() : 0);
  for (auto& flags : state->local_written) flags.assign(kWarpSize * local_bytes, std::byte{0});
  block.check_state = state;
}

void LaunchChecks::block_ends(Block& block) {
  const std::lock_guard lock(state_->mutex);
  state_->unused.push_back(&state_of(block));
  block.check_state = nullptr;
}

namespace {

/// `owner`: the block whose shared memory is accessed.
Touch touch_of(Execution& execution, const Instruction& instruction, const Access& access,
               BlockState& block, BlockState& owner) {
  WarpKnowledge& warp = block.knowledge.warps[execution.warp->index];
  Touch touch{execution, instruction, access, block.knowledge, warp, owner.readers};
  touch.place = execution.frame->function->places[instruction.index];
  touch.write = access.kind != AccessKind::load;
  touch.strong = access.order != Order::weak || access.kind == AccessKind::atomic;
  const bool wide = access.scope != Scope::cta || access.order == Order::volatile_;
  touch.device = touch.strong && wide;
  return touch;
}

bool releases(const Access& access) {
  return access.order == Order::release || access.order == Order::acquire_release;
}

}  // namespace

void LaunchChecks::State::shared_access(Touch& touch, const LaneAddresses& addresses,
                                        BlockState& owner) {
  touch.shared = true;
  if (check_init) InitialisationCheck::shared(races, touch, owner.written, addresses);
  if (!check_race) return;
  if (touch.write && owner.reads.any()) {
    each_lane(touch.execution.mask, [&](unsigned lane) {
      check_async_reads(touch, lane, owner, addresses[lane], touch.access.bytes);
    });
  }
  visit_lanes(
      touch, addresses,
      [&](std::uint64_t number) -> ShadowPage& { return owner.shared_page(number); },
      [](ShadowPage&) {});
}

void LaunchChecks::State::access_local(Execution& execution, const Instruction& instruction,
                                       const Access& access, const LaneAddresses& addresses) {
  BlockState& block = state_of(*execution.block);
  if (block.local_written.empty()) return;
  Touch touch = touch_of(execution, instruction, access, block, block);
  touch.addresses = &addresses;
  InitialisationCheck::local(races, touch, block.local_written[execution.warp->index],
                             execution.launch->request.kernel.main->local_bytes, addresses);
}

void LaunchChecks::access(Execution& execution, const Instruction& instruction,
                          const Access& access, const LaneAddresses& addresses,
                          const HostPointers& pointers, const std::byte* stored) {
  if (access.space == Space::shared) {
    return access_of_cluster(execution, instruction, access, addresses, pointers, stored,
                             *execution.block);
  }
  if (access.space == Space::local) {
    return state_->access_local(execution, instruction, access, addresses);
  }
  if (access.space != Space::global) return;
  BlockState& block = state_of(*execution.block);
  Touch touch = touch_of(execution, instruction, access, block, block);
  touch.pointers = &pointers;
  touch.stored = stored;
  touch.addresses = &addresses;
  if (state_->check_init) InitialisationCheck::global(state_->races, touch, addresses);
  if (!state_->check_race) return;
  state_->visit_lanes(
      touch, addresses,
      [&](std::uint64_t number) -> ShadowPage& { return global_page(state_->shadow, number); },
      [&](ShadowPage& page) {
        state_->races.begin(page);
        page.need_cells();
      });
  if (releases(access)) ++block.knowledge.clock;
}

void LaunchChecks::access_of_cluster(Execution& execution, const Instruction& instruction,
                                     const Access& access, const LaneAddresses& addresses,
                                     const HostPointers& pointers, const std::byte* stored,
                                     Block& owner) {
  BlockState& block = state_of(*execution.block);
  Touch touch = touch_of(execution, instruction, access, block, state_of(owner));
  touch.pointers = &pointers;
  touch.stored = stored;
  touch.addresses = &addresses;
  state_->shared_access(touch, addresses, state_of(owner));
  if (&owner != execution.block) note_use(execution, instruction, owner);
  if (state_->check_race && releases(access)) ++block.knowledge.clock;
}

void LaunchChecks::async_copy_issued(Execution& execution, const Instruction& instruction,
                                     unsigned lane, Block& owner, std::uint32_t shared_offset,
                                     unsigned bytes) {
  BlockState& block = state_of(*execution.block);
  BlockState& target = state_of(owner);
  std::fill_n(target.written.begin() + shared_offset, bytes, std::byte{1});
  if (!state_->check_race) return;
  const Access access{.space = Space::shared, .kind = AccessKind::store, .asynchronous = true};
  Touch touch = touch_of(execution, instruction, access, block, target);
  touch.shared = true;
  state_->check_async_reads(touch, lane, target, shared_offset, bytes);
  target.each_cell(shared_offset, bytes, [&](ShadowPage& page, Cell& cell) {
    state_->races.copy_issued(page, cell, touch, lane);
  });
}

void LaunchChecks::async_writes_waited(Execution& execution, unsigned lane,
                                       std::span<const GlobalRange> ranges) {
  if (!state_->check_race) return;
  const BlockKnowledge& block = state_of(*execution.block).knowledge;
  const unsigned thread = (execution.warp->index * kWarpSize + lane) & 0x3ffu;
  const auto visit = [&](const ShadowPage& page, Cell& cell) {
    Slot& write = cell.write;
    if (!page.is_live(write) || write.listed || !write.asynchronous) return;
    if (write.thread != thread || write.block != Slot::stored(block.number)) return;
    write.asynchronous = false;
    write.copied = true;
    write.clock = block.clock;
  };
  for (const GlobalRange& range : ranges) {
    const std::uint64_t end = range.begin + range.bytes;
    for (std::uint64_t at = range.begin; at < end;) {
      ShadowPage& page = global_page(state_->shadow, at >> ShadowPage::kBytesLog);
      const PageLock lock(page);
      state_->races.begin(page);
      page.need_cells();
      const std::uint64_t stop =
          std::min(end, ((at >> ShadowPage::kBytesLog) + 1) << ShadowPage::kBytesLog);
      const unsigned log = page.cell_log();
      for (; at < stop; at = ((at >> log) + 1) << log) {
        visit(page, page.cells()[(at & (ShadowPage::kBytes - 1)) >> log]);
      }
    }
  }
}

}  // namespace halfgrad::emulator
