#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <halfgrad/emulator/checks/grid_table.h>
#include <halfgrad/emulator/checks/knowledge.h>
#include <halfgrad/emulator/checks/reader_lists.h>
#include <halfgrad/emulator/checks/shadow.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {

/// One access of a warp as the rules of races see it.
struct Touch {
  Execution& execution;
  const Instruction& instruction;
  const Access& access;
  BlockKnowledge& block;
  WarpKnowledge& warp;
  ReaderLists& block_readers;              ///< readers of shared memory
  const HostPointers* pointers = nullptr;  ///< to the bytes before a store
  const std::byte* stored = nullptr;       ///< the bytes of a store
  const LaneAddresses* addresses = nullptr;
  std::uint32_t place = 0;  ///< Function::places of the instruction
  bool shared = false;
  bool write = false, strong = false, device = false;

  const Kernel& kernel() const { return execution.launch->request.kernel; }
  unsigned thread(unsigned lane) const { return execution.warp->index * kWarpSize + lane; }
  /// The block's number as a Slot stores it.
  std::uint32_t stored_block() const { return Slot::stored(block.number); }
};

/// Finds accesses that nothing orders (PTX ISA, "Memory Consistency Model": two overlapping
/// accesses, at least one a write, race unless one happens before the other or both are morally
/// strong). Volatile accesses count as relaxed at system scope.
///
/// Vector clocks (knowledge.h) tell what happens before an access. For each word the detector keeps
/// the last write and the last readers, as FastTrack (Flanagan and Freund 2009).
class RaceDetector {
 public:
  RaceDetector(OperationId operation, const OperationOrder* order)
      : operation_(operation), order_(order), serial_(next_serial()) {}

  /// The grids whose blocks call the detector.
  GridTable& grids() { return grids_; }

  /// Records accesses of `lanes` to one word and reports what they race with.
  void visit(ShadowPage& page, Cell& cell, const Touch& touch, LaneMask lanes);
  /// Whether nothing is to be said about what the slot holds: no access, one of the same thread, or
  /// one that all lanes of the warp are ordered after.
  static bool is_settled(const ShadowPage& page, const Slot& slot, const Touch& touch,
                         unsigned lane) {
    if (slot.clock == 0) return true;
    if (slot.strong || slot.asynchronous || slot.listed) return false;
    if (page.standing(slot) == Standing::past) return true;
    return slot.operation == page.current() && slot.block == touch.block.number &&
           (slot.clock <= touch.warp.floor() || slot.thread == touch.thread(lane));
  }
  static Slot slot_of(const ShadowPage& page, const Touch& touch, unsigned lane) {
    return Slot::of(touch.block.clock, touch.block.number, page.current(), touch.thread(lane),
                    touch.place, touch.strong, touch.device);
  }
  /// A weak load by several lanes of a word whose last write all lanes of the warp are ordered
  /// after: only the read is left to note. Returns whether it was.
  bool note_settled_load(ShadowPage& page, Cell& cell, const Touch& touch, LaneMask lanes) {
    if (touch.write || touch.strong) return false;
    const Slot& write = cell.write;
    const bool weak = !write.strong && !write.asynchronous && !write.listed;
    const bool settled =
        write.clock == 0 ||
        (weak && (page.standing(write) == Standing::past ||
                  (write.operation == page.current() && write.block == touch.block.number &&
                   write.clock <= touch.warp.floor())));
    if (settled) note_reader(page, cell.read, touch, lanes);
    return settled;
  }
  /// Drops readers of shared memory that the whole block is ordered after.
  static void drop_known(Cell& cell, const Touch& touch) {
    if (cell.read.listed && touch.shared && touch.block_readers.is_forgotten(cell.read.clock)) {
      cell.read = Slot();
    }
  }
  /// Lanes that store to the same address by one instruction.
  void check_same_address(const Touch& touch, LaneMask lanes);

  /// A load through a texture or surface of memory that the same launch has written.
  void check_cached(const ShadowPage& page, const Cell& cell, const Touch& touch, LaneMask lanes);

  /// A read by the asynchronous proxy, which does not see stores of the launch without
  /// fence.proxy.async.
  void check_proxy(const ShadowPage& page, const Cell& cell, const Touch& touch, LaneMask lanes);

  void copy_issued(ShadowPage& page, Cell& cell, const Touch& touch, unsigned lane);

  void begin(ShadowPage& page) const {
    if (!page.is_current(serial_)) page.begin(serial_, operation_, order_);
  }

  /// Adds a finding at most 256 times for an instruction.
  void report(const Touch& touch, unsigned lane, FindingKind kind, const std::string& message,
              const std::string& other, Severity severity = Severity::error);

 private:
  /// An earlier access, however it is stored.
  struct Earlier {
    std::uint32_t block, thread, instruction;
    Clock clock;
    bool write, strong, device;
  };

  ReaderLists& lists(const Touch& touch) { return touch.shared ? touch.block_readers : readers_; }
  void meet_operations(ShadowPage& page, Cell& cell, const Touch& touch, LaneMask lanes);
  void check_overlap(const Touch& touch, LaneMask lanes, OperationId other, bool wrote);
  bool ordered(const Touch& touch, unsigned lane, const Earlier& earlier) const;
  bool conflicts(const Touch& touch, const Earlier& earlier) const;
  void check_write(const Slot& write, const Touch& touch, LaneMask lanes);
  void check_readers(const Slot& read, const Touch& touch, LaneMask lanes);
  void check_lanes(const Touch& touch, LaneMask lanes, Earlier earlier, std::uint32_t warp,
                   LaneMask earlier_lanes);
  void note_reader(ShadowPage& page, Slot& read, const Touch& touch, LaneMask lanes);
  std::uint32_t add_reader(std::uint32_t list, const Touch& touch, LaneMask lanes);
  Reader reader_of(const Slot& slot) const;
  void write_strongly(ShadowPage& page, Cell& cell, const Touch& touch, LaneMask lanes);
  bool replaces(ShadowPage& page, const Cell& cell, const Touch& touch, LaneMask lanes) const;
  ContendedWord& contend(ShadowPage& page, Cell& cell, const Touch& touch);
  void visit_contended(ShadowPage& page, Cell& cell, const Touch& touch, LaneMask lanes);
  static void add_access(ContendedWord& word, const Touch& touch, LaneMask lanes, bool write);
  static void synchronise(ContendedWord& word, const Touch& touch, LaneMask lanes);
  void report_race(const Touch& touch, unsigned lane, const Earlier& earlier);
  void check_volatile(const Touch& touch, LaneMask lanes, const Earlier& write);

  GridTable grids_;
  OperationId operation_;
  const OperationOrder* order_;
  std::uint64_t serial_;
  ReaderLists readers_;
  std::mutex mutex_;
  std::map<std::tuple<const Kernel*, std::uint32_t, int>, std::uint32_t> reported_;
};

/// Returns the accesses that a strong write by these lanes releases, or nullptr.
Tree released_by(const Touch& touch, LaneMask lanes);

}  // namespace halfgrad::emulator
