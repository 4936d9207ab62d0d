#pragma once

#include <vector>

#include <halfgrad/emulator/checks/race_detector.h>

namespace halfgrad::emulator {

/// Finds loads of bytes that nothing has written: of shared memory since the block began, of a
/// kernel's local arrays since its thread began, of device memory since it was allocated. A load of
/// more than one byte that is partly written is a note, since it may hold padding of a struct; so
/// is a load by a function of CUDA's own headers.
class InitialisationCheck {
 public:
  /// `written` has a byte for each byte of shared memory.
  static void shared(RaceDetector& reports, const Touch& touch, std::vector<std::byte>& written,
                     const LaneAddresses& addresses);
  static void global(RaceDetector& reports, const Touch& touch, const LaneAddresses& addresses);
  /// Local variables of the kernel itself, `bytes` for each lane; functions that it calls use the
  /// memory behind them. `written` has a byte for each byte of each lane of the warp.
  static void local(RaceDetector& reports, const Touch& touch, std::vector<std::byte>& written,
                    std::size_t bytes, const LaneAddresses& addresses);
};

/// The allocation that holds the address, or nullptr. Remembers the last one for each host thread.
const Allocation* allocation_at(const Allocations& memory, std::uint64_t address);

}  // namespace halfgrad::emulator
