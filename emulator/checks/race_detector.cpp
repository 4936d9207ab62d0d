#include <halfgrad/emulator/checks/race_detector.h>

#include <array>
#include <cstring>
#include <utility>

#include <halfgrad/emulator/checks/report.h>

namespace halfgrad::emulator {
namespace {

const char* name_of(bool write, bool strong) {
  if (strong) return write ? "an atomic or volatile write" : "a volatile or relaxed load";
  return write ? "a store" : "a load";
}

bool same_value(const Touch& touch, unsigned lane) {
  if (touch.stored == nullptr || touch.pointers == nullptr) return false;
  return std::memcmp(touch.stored + std::size_t{lane} * touch.access.bytes,
                     touch.pointers->lane[lane], touch.access.bytes) == 0;
}

/// CUB's device algorithms look at global memory that other blocks may write at the same time, and
/// discard what came too early. Races in shared memory are the caller's: a temporary storage that
/// is reused without a barrier.
bool is_idiom_of_toolkit(const Touch& touch, const std::string& earlier_place) {
  static constexpr std::array<const char*, 2> kFolders = {"/cub/", "/thrust/"};
  return !touch.shared && is_in_headers(earlier_place, kFolders) &&
         is_in_headers(place_of(touch.execution, touch.instruction), kFolders);
}

std::uint64_t address_of(const Touch& touch, unsigned lane) {
  if (touch.addresses == nullptr) return 0;
  const std::uint64_t address = (*touch.addresses)[lane];
  if (touch.access.space == Space::local) return kLocalWindow | (address & ~kWindowMask);
  return touch.shared ? kSharedWindow | (address & ~kWindowMask) : address;
}

}  // namespace

void RaceDetector::report(const Touch& touch, unsigned lane, FindingKind kind,
                          const std::string& message, const std::string& other, Severity severity) {
  {
    const std::lock_guard lock(mutex_);
    const int key = static_cast<int>(kind) * 2 + static_cast<int>(severity);
    if (++reported_[{&touch.kernel(), touch.place, key}] > 256) return;
  }
  halfgrad::emulator::report(touch.execution, touch.instruction, lane, kind, message,
                             address_of(touch, lane), other, severity);
}

void RaceDetector::report_race(const Touch& touch, unsigned lane, const Earlier& earlier) {
  const bool equal = touch.write && earlier.write && !touch.strong && same_value(touch, lane);
  const std::string place = grids_.place(earlier.block, earlier.instruction);
  const std::string other = std::string(name_of(earlier.write, earlier.strong)) + " by " +
                            grids_.thread(earlier.block, earlier.thread, touch.kernel()) + " at " +
                            place;
  std::string message = std::string(name_of(touch.write, touch.strong)) + " of " +
                        (touch.shared ? "shared" : "global") + " memory is not ordered with " +
                        name_of(earlier.write, earlier.strong) + " of another thread";
  if (equal) message += ", but stores the value that is already there";
  if (touch.block.number == earlier.block &&
      touch.warp.has_met(lane, earlier.thread, earlier.clock)) {
    message +=
        "; a shuffle, vote or other instruction of the whole warp between them orders no "
        "memory: expected a barrier, such as __syncwarp()";
  }
  const bool idiom = is_idiom_of_toolkit(touch, place);
  if (idiom) message += "; both lie in the headers of CUB or Thrust, which rely on it";
  report(touch, lane, FindingKind::race, message, other,
         equal || idiom ? Severity::note : Severity::error);
}

void RaceDetector::check_same_address(const Touch& touch, LaneMask lanes) {
  const unsigned first = first_lane(lanes), bytes = touch.access.bytes;
  if (touch.stored == nullptr) return;
  LaneMask different = 0;
  each_lane(lanes, [&](unsigned lane) {
    const bool equal = std::memcmp(touch.stored + std::size_t{lane} * bytes,
                                   touch.stored + std::size_t{first} * bytes, bytes) == 0;
    if (!equal) different |= LaneMask{1} << lane;
  });
  const unsigned lane = first_lane(different != 0 ? different : lanes & (lanes - 1));
  report(touch, lane, FindingKind::race,
         different != 0 ? "lanes of a warp store different values to one address by one instruction"
                        : "lanes of a warp store the same value to one address by one instruction",
         grids_.thread(touch.block.number, touch.thread(first), touch.kernel()),
         different != 0 ? Severity::error : Severity::note);
}

/// Reports accesses by operations of other streams that nothing orders with this one, and drops
/// those that are over.
void RaceDetector::meet_operations(ShadowPage& page, Cell& cell, const Touch& touch,
                                   LaneMask lanes) {
  const auto check = [&](const Slot& slot, bool wrote) {
    const bool strong = slot.listed && wrote ? page.contended(slot).all_strong_and_device
                                             : slot.strong && slot.device && !slot.listed;
    if ((!wrote && !touch.write) || (strong && touch.strong && touch.device)) return;
    for (const OperationId other : page.operations(slot).ids) {
      if (other == operation_ || other == 0) continue;
      if (order_->overlaps(other, operation_, false)) {
        check_overlap(touch, lanes, other, wrote);
        continue;
      }
      report(touch, first_lane(lanes), FindingKind::stream_race,
             std::string(name_of(touch.write, touch.strong)) + " is not ordered with " +
                 (wrote ? "a write" : "a read") + " by an operation of another stream",
             order_->describe(other));
    }
  };
  if (cell.write.clock != 0 && page.standing(cell.write) != Standing::current) {
    if (page.is_live(cell.write)) check(cell.write, true);
    cell.write = Slot();
  }
  if (cell.read.clock == 0 || page.standing(cell.read) == Standing::current) return;
  if (page.is_live(cell.read)) check(cell.read, false);
  if (page.standing(cell.read) == Standing::past) cell.read = Slot();
  if (page.standing(cell.read) == Standing::unordered && touch.write) cell.read = Slot();
}

/// CUDA programming guide, "Programmatic Dependent Launch": the launch may run beside the kernel
/// before it, until it waits for the end of that kernel.
void RaceDetector::check_overlap(const Touch& touch, LaneMask lanes, OperationId other,
                                 bool wrote) {
  const bool waited = touch.block.waited_for_grids;
  if (!order_->overlaps(other, operation_, waited)) return;
  report(touch, first_lane(lanes), FindingKind::stream_race,
         std::string(name_of(touch.write, touch.strong)) + " is not ordered with " +
             (wrote ? "a write" : "a read") + " by an earlier kernel of the stream, which may " +
             (waited ? "still run: a kernel between them ended without "
                       "cudaGridDependencySynchronize()"
                     : "overlap this programmatic dependent launch: expected "
                       "cudaGridDependencySynchronize() before"),
         order_->describe(other));
}

/// CUDA programming guide, "Read/Write Coherency" of textures and surfaces: a fetch returns
/// undefined data for an address that the same launch has written, whatever orders the two. For
/// ld.global.nc, which is __ldg and a load through const __restrict__, the memory must be read-only
/// while the kernel runs (PTX ISA, "ld.global.nc"). For a surface load this is a note: it may mean
/// to read what its own thread has stored.
void RaceDetector::check_cached(const ShadowPage& page, const Cell& cell, const Touch& touch,
                                LaneMask lanes) {
  if (touch.write || cell.write.clock == 0) return;
  if (page.standing(cell.write) != Standing::current) return;
  const AccessPath path = touch.access.path;
  const char* const load = path == AccessPath::texture     ? "a texture fetch"
                           : path == AccessPath::read_only ? "a load by __ldg or const __restrict__"
                                                           : "a surface load";
  report(touch, first_lane(lanes), FindingKind::race,
         std::string(load) +
             " of memory that this launch has written: its cache does not see stores of the launch",
         cell.write.listed
             ? "a store of this launch"
             : "a store by " + grids_.thread(cell.write.block, cell.write.thread, touch.kernel()),
         path == AccessPath::surface ? Severity::note : Severity::error);
}

void RaceDetector::check_proxy(const ShadowPage& page, const Cell& cell, const Touch& touch,
                               LaneMask lanes) {
  const Slot& write = cell.write;
  if (write.clock == 0 || write.asynchronous || write.copied || write.listed) return;
  if (page.standing(write) != Standing::current) return;
  if (write.block != touch.stored_block()) return;  // the fences of other blocks are unknown
  const unsigned lane = first_lane(lanes);
  const auto is_before = [&](unsigned thread, Clock clock) {
    const unsigned other = thread - touch.thread(0);
    if (other < kWarpSize && (lanes >> other & 1) != 0) return true;
    return touch.warp.knows(lane, thread, clock);
  };
  const ProxyFences::Need need{
      .thread = write.thread, .time = write.clock, .issuer = touch.thread(lane)};
  if (touch.block.proxy_fences.follow(need, is_before)) return;
  report(
      touch, lane, FindingKind::race,
      std::string("an asynchronous read of ") + (touch.shared ? "shared" : "global") +
          " memory that a store wrote, without fence.proxy.async between the two: expected it in "
          "the thread that stored, before a barrier",
      "a store by " + grids_.thread(write.block, write.thread, touch.kernel()) + " at " +
          grids_.place(write.block, write.instruction));
}

bool RaceDetector::ordered(const Touch& touch, unsigned lane, const Earlier& earlier) const {
  const std::uint32_t block = touch.stored_block();
  if (earlier.block == block) {
    if (earlier.thread == touch.thread(lane)) return true;
    if (touch.warp.knows(lane, earlier.thread, earlier.clock)) return true;
  } else if (touch.warp.knows(lane, earlier.block, earlier.thread, earlier.clock)) {
    return true;
  }
  return touch.strong && touch.warp.observed(lane, earlier.block, earlier.thread, earlier.clock);
}

/// Whether the two race unless one happens before the other.
bool RaceDetector::conflicts(const Touch& touch, const Earlier& earlier) const {
  if (!touch.write && !earlier.write) return false;
  const bool same_block = earlier.block == touch.stored_block();
  return !(touch.strong && earlier.strong && (same_block || (touch.device && earlier.device)));
}

/// Reports the first pair of a lane now and a lane of `warp` then that nothing orders.
void RaceDetector::check_lanes(const Touch& touch, LaneMask lanes, Earlier earlier,
                               std::uint32_t warp, LaneMask earlier_lanes) {
  if (!conflicts(touch, earlier)) return;
  if (earlier.block == touch.block.number && earlier.clock <= touch.warp.floor()) return;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    for (LaneMask others = earlier_lanes; others != 0; others &= others - 1) {
      earlier.thread = warp * kWarpSize + first_lane(others);
      if (!ordered(touch, first_lane(rest), earlier)) {
        return report_race(touch, first_lane(rest), earlier);
      }
    }
  }
}

void RaceDetector::check_write(const Slot& write, const Touch& touch, LaneMask lanes) {
  if (write.clock == 0) return;
  if (write.asynchronous) {
    const bool own = write.thread == (touch.thread(first_lane(lanes)) & 0x3ffu) &&
                     write.block == touch.stored_block();
    if (!touch.shared && touch.write && touch.access.asynchronous && own) return;
    report(touch, first_lane(lanes), FindingKind::async_copy,
           std::string(name_of(touch.write, touch.strong)) +
               " of bytes that an asynchronous copy writes, before the copy was waited for" +
               (touch.shared ? "" : ": expected cp.async.bulk.wait_group, not .read, before"),
           "a copy issued by " + grids_.thread(write.block, write.thread, touch.kernel()) + " at " +
               grids_.place(write.block, write.instruction));
    return;
  }
  const Earlier earlier{write.block, write.thread,      write.instruction, write.clock,
                        true,        write.strong != 0, write.device != 0};
  check_lanes(touch, lanes, earlier, write.thread / kWarpSize,
              LaneMask{1} << write.thread % kWarpSize);
  check_volatile(touch, lanes, earlier);
}

Reader RaceDetector::reader_of(const Slot& slot) const {
  Reader reader;
  reader.block = slot.block;
  reader.warp = static_cast<std::uint16_t>(slot.thread / kWarpSize);
  reader.lanes = LaneMask{1} << slot.thread % kWarpSize;
  reader.instruction = slot.instruction;
  reader.clock = slot.clock;
  reader.strong = slot.strong;
  reader.device = slot.device;
  return reader;
}

void RaceDetector::check_readers(const Slot& read, const Touch& touch, LaneMask lanes) {
  if (read.clock == 0) return;
  const auto check = [&](const Reader& reader) {
    check_lanes(
        touch, lanes,
        {reader.block, 0, reader.instruction, reader.clock, false, reader.strong, reader.device},
        reader.warp, reader.lanes);
  };
  if (!read.listed) return check(reader_of(read));
  const ReaderLists& readers = lists(touch);
  const Reader& head = readers[read.clock];
  const bool known =
      head.one_block && head.block == touch.block.number && head.latest <= touch.warp.floor();
  if (known) return;
  for (std::uint32_t list = read.clock; list != 0; list = readers[list].next) {
    check(readers[list]);
  }
}

void RaceDetector::visit(ShadowPage& page, Cell& cell, const Touch& touch, LaneMask lanes) {
  meet_operations(page, cell, touch, lanes);
  if (cell.write.listed) return visit_contended(page, cell, touch, lanes);
  check_write(cell.write, touch, lanes);
  if (cell.write.asynchronous) cell.write = Slot();
  if (!touch.write) {
    note_reader(page, cell.read, touch, lanes);
    return;
  }
  check_readers(cell.read, touch, lanes);
  if (touch.strong) {
    write_strongly(page, cell, touch, lanes);
  } else {
    cell = {slot_of(page, touch, kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(lanes))),
            Slot()};
  }
}

void RaceDetector::copy_issued(ShadowPage& page, Cell& cell, const Touch& touch, unsigned lane) {
  const LaneMask lanes = LaneMask{1} << lane;
  drop_known(cell, touch);
  meet_operations(page, cell, touch, lanes);
  if (!cell.write.listed) check_write(cell.write, touch, lanes);
  check_readers(cell.read, touch, lanes);
  if (cell.write.listed) page.drop_contended(cell.write);
  cell = {slot_of(page, touch, lane), Slot()};
  cell.write.asynchronous = true;
}

}  // namespace halfgrad::emulator
