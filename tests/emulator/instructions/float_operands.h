#pragma once

#include <cfenv>
#include <cstdint>
#include <string>
#include <vector>

#include "../run_ptx.h"

namespace halfgrad::emulator {

constexpr std::size_t kCases = 300'000;
struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

inline std::string with_mode(std::string text, const char* mode) {
  for (std::size_t at; (at = text.find("MODE")) != std::string::npos;) text.replace(at, 4, mode);
  return text;
}

/// Operands of f32 with exponents that meet: random bits alone seldom round.
inline std::vector<Words> close_floats(std::size_t count) {
  auto in = operands(3, count, 5);
  for (std::size_t i = count / 2; i < count; ++i) {
    const std::uint64_t exponent = in[0][i] & 0x7f800000;
    for (auto& array : in) {
      array[i] =
          (array[i] & 0x807fffff) | ((exponent + ((array[i] >> 40) % 26 << 23)) & 0x7f800000);
    }
  }
  return in;
}

}  // namespace halfgrad::emulator
