// Notes about volatile loads, which are no races, but rely on an order that nothing makes.
#include <halfgrad/emulator/checks/race_detector.h>

namespace halfgrad::emulator {

/// `write`: the last write of the word. Notes a load of what another lane of the warp has written
/// to shared memory, which relies on lanes in lockstep. Notes, too, a load of a second word of a
/// thread of which a first one was seen: whoever saw a flag may still read an old value of the
/// data.
void RaceDetector::check_volatile(const Touch& touch, LaneMask lanes, const Earlier& write) {
  if (touch.access.order != Order::volatile_ || touch.write || !write.strong) return;
  if (touch.addresses == nullptr) return;
  const bool own_block = write.block == touch.stored_block();
  const bool own_warp = own_block && write.thread / kWarpSize == touch.execution.warp->index;
  each_lane(lanes, [&](unsigned lane) {
    if (ordered(touch, lane, write)) return;
    const auto other = [&] {
      return "a write by " + grids_.thread(write.block, write.thread, touch.kernel()) + " at " +
             grids_.place(write.block, write.instruction);
    };
    if (touch.shared && own_warp) {
      report(touch, lane, FindingKind::race,
             "a volatile load of shared memory that another lane of the warp wrote, without "
             "__syncwarp between the two: lanes of a warp need not run in lockstep",
             other(), Severity::note);
      return;
    }
    Sight& sight = touch.warp.sight(lane);
    const std::uint64_t address = (*touch.addresses)[lane];
    const bool same_thread = sight.block == write.block && sight.thread == write.thread;
    if (same_thread && sight.address != address && write.clock <= sight.clock) {
      report(touch, lane, FindingKind::race,
             "a volatile load of what a thread wrote, after a load of another word of that thread, "
             "may return an old value: expected __threadfence() between the two writes and between "
             "the two loads",
             other(), Severity::note);
    }
    sight = {write.block, write.thread, write.clock, address};
  });
}

}  // namespace halfgrad::emulator
