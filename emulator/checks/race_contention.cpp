#include <algorithm>
#include <bit>
#include <utility>

#include <halfgrad/emulator/checks/race_detector.h>

namespace halfgrad::emulator {
namespace {

/// Accesses kept for a word; older ones are forgotten, which can hide a race but not invent one.
constexpr std::size_t kMostAccesses = 4096;

bool releases(Order order) { return order == Order::release || order == Order::acquire_release; }
bool acquires(Order order) { return order == Order::acquire || order == Order::acquire_release; }

/// Notes whose atomic was the last: lanes of an instruction write in their order.
void note_last(ContendedWord& word, const Touch& touch, LaneMask lanes) {
  if (!touch.write) return;
  word.has_last = touch.strong && touch.device && touch.access.kind == AccessKind::atomic;
  word.last_block = touch.stored_block();
  word.last_thread = touch.thread(kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(lanes)));
}

/// Whether only the thread of the last atomic accesses the word, weakly.
bool is_last(const ContendedWord& word, const Touch& touch, LaneMask lanes) {
  return word.has_last && !touch.strong && (lanes & (lanes - 1)) == 0 &&
         word.last_block == touch.stored_block() &&
         word.last_thread == touch.thread(first_lane(lanes));
}

}  // namespace

Tree released_by(const Touch& touch, LaneMask lanes) {
  if (releases(touch.access.order)) return touch.warp.release(lanes, touch.block.clock);
  Tree tree;
  each_lane(lanes, [&](unsigned lane) {
    tree = join(tree, touch.warp.released_by_fence(lane, touch.device));
  });
  return tree;
}

/// Whether a strong write may take the place of all that the cell holds.
bool RaceDetector::replaces(ShadowPage& page, const Cell& cell, const Touch& touch,
                            LaneMask lanes) const {
  if ((lanes & (lanes - 1)) != 0) return false;
  const auto covered = [&](const Slot& slot) {
    if (!page.is_live(slot)) return true;
    if (slot.listed || !slot.strong || touch.device > slot.device) return false;
    return ordered(touch, first_lane(lanes),
                   {slot.block, slot.thread, 0, slot.clock, false, false, false});
  };
  return covered(cell.write) && covered(cell.read);
}

void RaceDetector::write_strongly(ShadowPage& page, Cell& cell, const Touch& touch,
                                  LaneMask lanes) {
  const bool simple = !releases(touch.access.order) && replaces(page, cell, touch, lanes);
  const unsigned lane = first_lane(lanes);
  if (simple && !touch.warp.has_fence(lane) && touch.warp.fenced(lane) == nullptr) {
    cell = {slot_of(page, touch, lane), Slot()};
    return;
  }
  ContendedWord& word = contend(page, cell, touch);
  add_access(word, touch, lanes, true);
  note_last(word, touch, lanes);
  synchronise(word, touch, lanes);
}

/// Moves what the cell holds to a contended word.
ContendedWord& RaceDetector::contend(ShadowPage& page, Cell& cell, const Touch& touch) {
  const std::uint32_t number = page.add_contended();
  Slot slot;
  slot.clock = number;
  slot.operation = page.current();
  slot.listed = 1;
  ContendedWord& word = page.contended(slot);
  const auto add = [&](const Reader& reader, bool write) {
    word.accesses.push_back({reader.block, reader.warp, reader.instruction, reader.lanes,
                             reader.clock, write, reader.strong, reader.device});
    word.all_strong_and_device &= reader.strong && reader.device;
  };
  if (page.is_live(cell.write)) add(reader_of(cell.write), true);
  if (page.is_live(cell.read) && !cell.read.listed) add(reader_of(cell.read), false);
  if (page.is_live(cell.read) && cell.read.listed) {
    const ReaderLists& readers = lists(touch);
    for (std::uint32_t i = cell.read.clock; i != 0; i = readers[i].next) add(readers[i], false);
  }
  cell = {slot, Slot()};
  return word;
}

void RaceDetector::add_access(ContendedWord& word, const Touch& touch, LaneMask lanes, bool write) {
  ContendedAccess access{touch.stored_block(),
                         touch.execution.warp->index,
                         touch.place < 0xffff ? touch.place : 0xffffu,
                         lanes,
                         touch.block.clock,
                         write,
                         touch.strong,
                         touch.device};
  word.all_strong_and_device &= touch.strong && touch.device;
  std::size_t steps = 0;
  for (auto older = word.accesses.rbegin(); older != word.accesses.rend() && steps < 8;
       ++older, ++steps) {
    const bool same = older->block == access.block && older->warp == access.warp &&
                      older->write == write && older->strong == access.strong &&
                      older->device == access.device;
    if (!same) continue;
    if (older->clock != access.clock && (older->lanes & ~lanes) != 0) continue;
    access.lanes |= older->lanes;
    *older = access;
    return;
  }
  if (word.accesses.size() >= kMostAccesses) {
    word.accesses.erase(word.accesses.begin(), word.accesses.begin() + kMostAccesses / 2);
  }
  word.accesses.push_back(access);
}

void RaceDetector::synchronise(ContendedWord& word, const Touch& touch, LaneMask lanes) {
  const std::uint32_t block = touch.stored_block();
  const bool reads = touch.access.kind != AccessKind::store;
  const bool takes = reads && touch.access.mbarrier == MbarrierAct::none;
  if (takes && touch.device && word.released.fenced != nullptr) {
    each_lane(lanes, [&](unsigned lane) { touch.warp.await(lane, word.released.fenced); });
  }
  if (takes && (word.released.device != nullptr || word.released.block != nullptr)) {
    each_lane(lanes, [&](unsigned lane) {
      if (acquires(touch.access.order)) {
        touch.warp.acquire(lane, word.released, touch.device);
      } else {
        touch.warp.observe(lane, word.released, touch.device);
      }
    });
  }
  if (!touch.write || touch.access.mbarrier == MbarrierAct::wait) return;
  if (!reads) word.released = Released();  // a plain strong store ends the chain of releases
  if (touch.device) {
    each_lane(lanes, [&](unsigned lane) {
      word.released.fenced = join(word.released.fenced, touch.warp.fenced(lane));
    });
  }
  const Tree tree = released_by(touch, lanes);
  if (tree == nullptr) return;
  if (touch.device) word.released.device = join(word.released.device, tree);
  if (word.released.block_number != block) word.released.block = nullptr;
  word.released.block = join(word.released.block, tree);
  word.released.block_number = block;
}

void RaceDetector::visit_contended(ShadowPage& page, Cell& cell, const Touch& touch,
                                   LaneMask lanes) {
  ContendedWord& word = page.contended(cell.write);
  if (!(touch.strong && touch.device && word.all_strong_and_device)) {
    const bool last = is_last(word, touch, lanes);
    for (const ContendedAccess& access : word.accesses) {
      if (last && access.write && access.strong && access.device) continue;
      check_lanes(touch, lanes,
                  {access.block, 0, access.instruction, access.clock, access.write, access.strong,
                   access.device},
                  access.warp, access.lanes);
    }
  }
  const auto write = std::find_if(word.accesses.rbegin(), word.accesses.rend(),
                                  [](const ContendedAccess& access) { return access.write; });
  if (write != word.accesses.rend()) {
    check_volatile(touch, lanes,
                   {write->block, write->warp * kWarpSize + first_lane(write->lanes),
                    write->instruction, write->clock, true, write->strong, write->device});
  }
  if (touch.write && !touch.strong) {
    page.drop_contended(cell.write);
    cell = {slot_of(page, touch, first_lane(lanes)), Slot()};
    return;
  }
  add_access(word, touch, lanes, touch.write);
  note_last(word, touch, lanes);
  if (touch.strong) synchronise(word, touch, lanes);
}

}  // namespace halfgrad::emulator
