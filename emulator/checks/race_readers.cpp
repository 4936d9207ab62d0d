#include <bit>
#include <vector>

#include <halfgrad/emulator/checks/race_detector.h>

namespace halfgrad::emulator {
namespace {

/// Whether a reader of the same warp makes an older one superfluous: every lane of the older one
/// read again, and conflicts with as much.
bool covers(const Reader& later, const Reader& older) {
  return later.block == older.block && later.warp == older.warp &&
         (older.lanes & ~later.lanes) == 0 && later.strong <= older.strong &&
         later.device <= older.device;
}

}  // namespace

std::uint32_t RaceDetector::add_reader(std::uint32_t list, const Touch& touch, LaneMask lanes) {
  Reader reader;
  reader.block = touch.block.number & 0xffffffu;
  reader.warp = static_cast<std::uint16_t>(touch.execution.warp->index);
  reader.instruction = touch.counter < 0xffff ? touch.counter : 0xffffu;
  reader.lanes = lanes;
  reader.clock = touch.block.clock;
  reader.strong = touch.strong;
  reader.device = touch.device;
  ReaderLists& readers = lists(touch);
  unsigned steps = 0;
  for (std::uint32_t i = list; i != 0 && steps < 8; i = readers[i].next, ++steps) {
    const Reader& older = readers[i];
    if (older.clock == reader.clock && covers(older, reader)) return list;
  }
  if (list != 0) {
    const Reader& head = readers[list];
    const bool same_warp = head.block == reader.block && head.warp == reader.warp &&
                           head.strong == reader.strong && head.device == reader.device;
    if (same_warp && head.clock == reader.clock) reader.lanes |= head.lanes;
    if (covers(reader, head)) list = head.next;
  }
  reader.next = list;
  const std::uint32_t added = readers.add(reader);
  const unsigned length = readers[added].length;
  return length >= 32 && std::has_single_bit(length) ? compact(readers, added) : added;
}

std::uint32_t RaceDetector::compact(ReaderLists& lists, std::uint32_t list) {
  std::vector<Reader> kept;
  for (; list != 0; list = lists[list].next) {
    const Reader& reader = lists[list];
    bool superfluous = false;
    for (const Reader& later : kept) superfluous |= covers(later, reader);
    if (!superfluous) kept.push_back(reader);
  }
  std::uint32_t compacted = 0;
  while (!kept.empty()) {
    kept.back().next = compacted;
    kept.back().length = 1;
    kept.back().one_block = true;
    compacted = lists.add(kept.back());
    kept.pop_back();
  }
  return compacted;
}

void RaceDetector::note_reader(ShadowPage& page, Slot& read, const Touch& touch, LaneMask lanes) {
  ReaderLists& readers = this->lists(touch);
  const unsigned lane = first_lane(lanes);
  const std::uint32_t block = touch.block.number & 0xffffffu;
  const Standing standing = read.clock == 0 ? Standing::past : page.standing(read);
  const bool fresh = standing == Standing::past || standing == Standing::unordered;
  bool replace = fresh;
  if (!fresh && !read.listed) {
    const bool weaker = touch.strong > read.strong || touch.device > read.device;
    replace = !weaker &&
              ordered(touch, lane, {read.block, read.thread, 0, read.clock, false, false, false});
  } else if (!fresh && !touch.strong) {
    const Reader& head = readers[read.clock];
    replace = head.one_block && head.block == block && head.latest <= touch.warp.floor();
  }
  const std::uint32_t operation = standing == Standing::unordered
                                      ? page.with_current(static_cast<std::uint8_t>(read.operation))
                                  : fresh ? page.current()
                                          : read.operation;
  const bool single = (lanes & (lanes - 1)) == 0;
  if (replace && single) {
    read = slot_of(page, touch, lane);
  } else if (!readers.is_full()) {
    std::uint32_t list = 0;
    if (!replace) list = read.listed ? read.clock : readers.add(reader_of(read));
    read = Slot();
    read.clock = add_reader(list, touch, lanes);
    read.listed = 1;
  }
  read.operation = operation & 0xffu;
}

}  // namespace halfgrad::emulator
