#include <halfgrad/emulator/checks/race_detector.h>

namespace halfgrad::emulator {

std::uint32_t RaceDetector::add_reader(std::uint32_t list, const Touch& touch, LaneMask lanes) {
  Reader reader;
  reader.block = touch.stored_block();
  reader.warp = static_cast<std::uint16_t>(touch.execution.warp->index);
  reader.instruction = touch.place < 0xffff ? touch.place : 0xffffu;
  reader.lanes = lanes;
  reader.clock = touch.block.clock;
  reader.strong = touch.strong;
  reader.device = touch.device;
  return lists(touch).extend(list, reader);
}

/// Replaces the word's readers by these lanes if one of them is ordered after the earlier ones: a
/// write that is ordered after the new readers is then ordered after all. Else adds to the list.
void RaceDetector::note_reader(ShadowPage& page, Slot& read, const Touch& touch, LaneMask lanes) {
  ReaderLists& readers = this->lists(touch);
  const unsigned lane = first_lane(lanes);
  const std::uint32_t block = touch.stored_block();
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
