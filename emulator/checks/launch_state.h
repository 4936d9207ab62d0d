#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <halfgrad/emulator/checks/launch_checks.h>
#include <halfgrad/emulator/checks/race_detector.h>
#include <halfgrad/emulator/checks/reads_in_flight.h>

namespace halfgrad::emulator {

inline constexpr std::uint32_t kBlockMask = 0xffffff;  ///< numbers of blocks have 24 bits

/// The last access of a warp to the shared memory of another block of its cluster.
struct ClusterUse {
  Execution execution;  ///< context of the access
  const Instruction* instruction = nullptr;
  Clock clock = 0;
  std::uint64_t phase = 0;  ///< first phase of the cluster's barrier after the access
};

/// State that the checks keep for a running block.
struct BlockState {
  BlockKnowledge knowledge{0, 0};
  std::uint64_t serial = 0;                        ///< unique to this run of a block
  std::vector<std::unique_ptr<ShadowPage>> pages;  ///< shadow of shared memory
  std::vector<std::byte> written;                  ///< one flag for each byte of shared memory
  /// One flag for each byte of the kernel's local variables, by lane, for each warp.
  std::vector<std::vector<std::byte>> local_written;
  ReaderLists readers;                     ///< readers of shared memory
  std::map<const Warp*, ClusterUse> uses;  ///< by warps of other blocks
  ReadsInFlight reads;

  /// The page of shared memory that holds byte number << 12, ready for the block.
  ShadowPage& shared_page(std::uint64_t number) {
    auto& page = pages[number];
    if (page == nullptr) page = std::make_unique<ShadowPage>();
    if (!page->is_current(serial)) page->begin(serial, 0, nullptr);
    page->need_cells();
    return *page;
  }

  /// Calls f(page, cell) for the cells of a range whose ends are multiples of 4.
  template <class F>
  void each_cell(std::uint32_t offset, unsigned bytes, F f) {
    const std::uint32_t end = offset + bytes;
    while (offset < end) {
      ShadowPage& page = shared_page(offset >> ShadowPage::kBytesLog);
      const unsigned log = page.cell_log();
      f(page, page.cells()[(offset & (ShadowPage::kBytes - 1)) >> log]);
      offset += 1u << log;
    }
  }
};

inline BlockState& state_of(Block& block) { return *static_cast<BlockState*>(block.check_state); }

struct LaunchChecks::State {
  State(const Machine& machine, OperationId operation, const OperationOrder* order)
      : races(operation, order),
        shadow(GlobalShadow::of(machine.memory)),
        check_race(machine.settings.check_race),
        check_init(machine.settings.check_init) {}

  RaceDetector races;
  GlobalShadow& shadow;
  const bool check_race, check_init;
  std::mutex mutex;
  std::vector<std::unique_ptr<BlockState>> blocks;
  std::vector<BlockState*> unused;

  /// `page_of(number)` finds a page; `prepare(page)` makes it ready once it is locked.
  template <class PageOf, class Prepare>
  void visit_lanes(const Touch& touch, const LaneAddresses& addresses, PageOf page_of,
                   Prepare prepare);
  void visit_lane(ShadowPage& page, const Touch& touch, std::uint64_t address, LaneMask lanes);
  void access_local(Execution& execution, const Instruction& instruction, const Access& access,
                    const LaneAddresses& addresses);
  /// Reports bytes of `owner` that a product or bulk copy under way reads, which `lane` writes.
  void check_async_reads(const Touch& touch, unsigned lane, const BlockState& owner,
                         std::uint64_t offset, unsigned bytes);
  void shared_access(Touch& touch, const LaneAddresses& addresses, BlockState& owner);
};

}  // namespace halfgrad::emulator
