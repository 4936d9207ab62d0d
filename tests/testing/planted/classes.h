#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/wrong_cheats.h>
#include <halfgrad/tests/testing/planted/wrong_edges.h>
#include <halfgrad/tests/testing/planted/wrong_ends.h>
#include <halfgrad/tests/testing/planted/wrong_memory.h>
#include <halfgrad/tests/testing/planted/wrong_races.h>
#include <halfgrad/tests/testing/planted/wrong_rounding.h>
#include <halfgrad/tests/testing/planted/wrong_settings.h>
#include <halfgrad/tests/testing/planted/wrong_sizes.h>
#include <halfgrad/tests/testing/planted/wrong_specials.h>

/// Wrong kernels by the class of their mistake, at least 20 in each.
namespace halfgrad::testing::planted {

struct WrongClass {
  const char* name;
  std::vector<PlantedKernel> kernels;
  std::uint64_t seeds = 3;  ///< tried by CI
};

inline std::vector<WrongClass> wrong_classes() {
  return {{"sizes", joined(joined(wrong_sizes(), wrong_for_whole_blocks()), wrong_short_indices())},
          {"specials", joined(wrong_specials(), wrong_for_rare_specials())},
          {"memory", joined(wrong_memory(), wrong_in_sealed_memory())},
          {"rounding", joined(wrong_rounding(), wrong_to_nearest())},
          {"races", wrong_races()},
          {"ends", wrong_ends()},
          {"cheats", joined(joined(wrong_cheats(), wrong_by_history()), wrong_settings()), 1}};
}

}  // namespace halfgrad::testing::planted
