#include <halfgrad/emulator/checks/initialisation.h>

#include <array>
#include <cstring>
#include <string>

#include <halfgrad/emulator/checks/report.h>

namespace halfgrad::emulator {
namespace {

constexpr std::byte kWritten{1};

/// Whether an instruction comes from the toolkit's headers, which read and discard unused items.
bool is_of_toolkit(const Touch& touch) {
  static constexpr std::array<const char*, 4> kFolders = {"/cub/", "/thrust/", "/cuda/",
                                                          "cooperative_groups"};
  return is_in_headers(place_of(touch.execution, touch.instruction), kFolders);
}

const char* space_name(const Touch& touch) {
  if (touch.shared) return "shared";
  return touch.access.space == Space::local ? "local" : "global";
}

void report_unwritten(RaceDetector& reports, const Touch& touch, unsigned lane, bool partly) {
  const bool note = partly || is_of_toolkit(touch);
  reports.report(touch, lane, FindingKind::uninitialised,
                 std::string(touch.access.kind == AccessKind::atomic ? "an atomic" : "a load") +
                     " of " + space_name(touch) + " memory that " +
                     (partly ? "is partly written" : "nothing has written"),
                 "", note ? Severity::note : Severity::error);
}

/// Checks the bytes that a lane loads and records those that it stores. Their flags begin at
/// `written`.
void check_lane(RaceDetector& reports, const Touch& touch, unsigned lane, std::byte* written) {
  const unsigned bytes = touch.access.bytes;
  const bool reads = touch.access.kind != AccessKind::store && !touch.access.overwrites;
  if (reads && std::memchr(written, 0, bytes) != nullptr) {
    const std::array<std::byte, 32> none{};
    report_unwritten(reports, touch, lane, std::memcmp(written, none.data(), bytes) != 0);
    std::memset(written, static_cast<int>(kWritten), bytes);  // reports each byte once
  }
  if (touch.write) std::memset(written, static_cast<int>(kWritten), bytes);
}

/// Handles all lanes at once, whose bytes are contiguous. Returns false if a load reads unwritten
/// bytes: check_lane() then reports them.
bool check_contiguous(const Touch& touch, std::byte* written) {
  const std::size_t bytes = std::size_t{kWarpSize} * touch.access.bytes;
  if (touch.access.kind == AccessKind::store || touch.access.overwrites) {
    std::memset(written, static_cast<int>(kWritten), bytes);
    return true;
  }
  return std::memchr(written, 0, bytes) == nullptr;
}

}  // namespace

const Allocation* allocation_at(const Allocations& memory, std::uint64_t address) {
  struct Recent {
    const Allocations* memory = nullptr;
    std::uint64_t generation = 0;
    std::array<const Allocation*, 4> found{};
    unsigned next = 0;
  };
  thread_local Recent recent;
  const std::uint64_t generation = memory.generation();
  if (recent.memory != &memory || recent.generation != generation) {
    recent = {&memory, generation, {}, 0};
  }
  for (const Allocation* const allocation : recent.found) {
    if (allocation != nullptr && address - allocation->begin < allocation->bytes) return allocation;
  }
  const Allocation* const found = memory.find(address, 1);
  if (found != nullptr) recent.found[recent.next++ % recent.found.size()] = found;
  return found;
}

void InitialisationCheck::shared(RaceDetector& reports, const Touch& touch,
                                 std::vector<std::byte>& written, const LaneAddresses& addresses) {
  const auto marks = [&](unsigned lane) {
    return written.data() + (addresses[lane] & ~kWindowMask);
  };
  if (touch.pointers->contiguous && check_contiguous(touch, marks(0))) return;
  each_lane(touch.execution.mask,
            [&](unsigned lane) { check_lane(reports, touch, lane, marks(lane)); });
}

void InitialisationCheck::local(RaceDetector& reports, const Touch& touch,
                                std::vector<std::byte>& written, std::size_t bytes,
                                const LaneAddresses& addresses) {
  each_lane(touch.execution.mask, [&](unsigned lane) {
    const std::uint64_t offset = addresses[lane] & ~kWindowMask;
    if (offset + touch.access.bytes > bytes) return;
    check_lane(reports, touch, lane, written.data() + lane * bytes + offset);
  });
}

void InitialisationCheck::global(RaceDetector& reports, const Touch& touch,
                                 const LaneAddresses& addresses) {
  const Allocations& memory = touch.execution.launch->machine.memory;
  const Allocation* allocation = nullptr;  // the last lane's, mostly this lane's too
  const auto marks = [&](unsigned lane) -> std::byte* {
    const bool same =
        allocation != nullptr && addresses[lane] - allocation->begin < allocation->bytes;
    if (!same) allocation = allocation_at(memory, addresses[lane]);
    if (allocation == nullptr || allocation->written == nullptr) return nullptr;
    return allocation->written + (addresses[lane] - allocation->begin);
  };
  if (touch.pointers->contiguous) {
    std::byte* const first = marks(0);
    if (first == nullptr || check_contiguous(touch, first)) return;
  }
  each_lane(touch.execution.mask, [&](unsigned lane) {
    std::byte* const written = marks(lane);
    if (written != nullptr) check_lane(reports, touch, lane, written);
  });
}

}  // namespace halfgrad::emulator
