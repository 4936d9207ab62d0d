#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include <halfgrad/tests/thorough.h>

namespace halfgrad::testing {

/// The environment's HALFGRAD_SEEDS, or `usual`. docs/kernel_faults.md says how many
/// planted mistakes were tried with ten.
inline std::uint64_t seeds(std::uint64_t usual) {
  const char* given = std::getenv("HALFGRAD_SEEDS");
  return given != nullptr ? std::stoull(given) : kThorough ? usual : 1;
}

}  // namespace halfgrad::testing
