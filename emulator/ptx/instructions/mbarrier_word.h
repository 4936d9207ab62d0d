#pragma once

#include <cstdint>

namespace halfgrad::emulator {

/// An mbarrier object: 64 bits in shared memory (PTX ISA, "mbarrier"). A phase completes when all
/// expected arrivals came and all expected bytes of asynchronous copies landed:
///
///     pending == 0 and transactions == 0
///
/// Bits 0..19 hold `pending`, 20..39 `expected`, 40..62 `transactions`, 63 `phase`.
struct MbarrierWord {
  std::uint32_t pending = 0;      ///< arrivals that the current phase waits for
  std::uint32_t expected = 0;     ///< arrivals of the next phase
  std::int32_t transactions = 0;  ///< bytes that the current phase waits for; may go below 0
  bool phase = false;             ///< parity of the current phase

  static constexpr std::uint32_t kLargestCount = (1u << 20) - 1;

  static constexpr MbarrierWord from_bits(std::uint64_t bits) {
    const auto transactions = static_cast<std::int64_t>(bits << 1) >> 41;
    return {static_cast<std::uint32_t>(bits & kLargestCount),
            static_cast<std::uint32_t>(bits >> 20 & kLargestCount),
            static_cast<std::int32_t>(transactions), bits >> 63 != 0};
  }
  constexpr std::uint64_t bits() const {
    const auto bytes = static_cast<std::uint64_t>(transactions) & ((1u << 23) - 1);
    return pending | std::uint64_t{expected} << 20 | bytes << 40 | std::uint64_t{phase} << 63;
  }
  /// Starts the next phase if the current one is complete.
  constexpr void complete_if_ready() {
    if (pending != 0 || transactions != 0) return;
    pending = expected;
    phase = !phase;
  }
};

}  // namespace halfgrad::emulator
