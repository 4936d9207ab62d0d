#include <halfgrad/emulator/memory/banks.h>

#include <algorithm>
#include <array>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kBanks = 32, kBankBytes = 4;

/// Cycles that one part of a warp takes.
unsigned cycles(LaneMask mask, const LaneAddresses& addresses, unsigned bytes) {
  // Words of each bank that some lane asks for. 16 lanes of two words, or 8 lanes of four, never
  // ask for more than 32 of one bank.
  std::array<std::array<std::uint32_t, kWarpSize>, kBanks> words;
  std::array<std::uint8_t, kBanks> count{};
  unsigned most = 1;
  each_lane(mask, [&](unsigned lane) {
    const auto first = static_cast<std::uint32_t>(addresses[lane] / kBankBytes);
    const auto last = static_cast<std::uint32_t>((addresses[lane] + bytes - 1) / kBankBytes);
    for (std::uint32_t word = first; word <= last; ++word) {
      auto& known = words[word % kBanks];
      std::uint8_t& size = count[word % kBanks];
      const auto end = known.begin() + size;
      if (size == kWarpSize || std::find(known.begin(), end, word) != end) continue;
      known[size++] = word;
      most = std::max<unsigned>(most, size);
    }
  });
  return most;
}

/// Whether all words lie within 32: no two of them share a bank. True for broadcasts and for rows.
bool within_banks(LaneMask mask, const LaneAddresses& addresses, unsigned bytes) {
  const auto some = static_cast<std::uint32_t>(addresses[first_lane(mask)]);
  std::uint32_t least = some, most = some;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const bool active = (mask >> lane & 1) != 0;
    const std::uint32_t address = active ? static_cast<std::uint32_t>(addresses[lane]) : some;
    least = std::min(least, address);
    most = std::max(most, address);
  }
  return (most + bytes - 1) / kBankBytes - least / kBankBytes < kBanks;
}

}  // namespace

unsigned bank_conflicts(LaneMask mask, const LaneAddresses& addresses, unsigned bytes) {
  const unsigned lanes = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  const LaneMask one_part = lanes == 32 ? kAllLanes : (LaneMask{1} << lanes) - 1;
  unsigned extra = 0;
  for (unsigned from = 0; from < kWarpSize; from += lanes) {
    const LaneMask part = mask & one_part << from;
    if (part == 0 || within_banks(part, addresses, bytes)) continue;
    extra += cycles(part, addresses, bytes) - 1;
  }
  return extra;
}

}  // namespace halfgrad::emulator
