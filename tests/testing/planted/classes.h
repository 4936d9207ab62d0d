#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <halfgrad/tests/testing/planted/wrong_bits.h>
#include <halfgrad/tests/testing/planted/wrong_blocks.h>
#include <halfgrad/tests/testing/planted/wrong_cheats.h>
#include <halfgrad/tests/testing/planted/wrong_edges.h>
#include <halfgrad/tests/testing/planted/wrong_ends.h>
#include <halfgrad/tests/testing/planted/wrong_habits.h>
#include <halfgrad/tests/testing/planted/wrong_long_rows.h>
#include <halfgrad/tests/testing/planted/wrong_memory.h>
#include <halfgrad/tests/testing/planted/wrong_mutants.h>
#include <halfgrad/tests/testing/planted/wrong_races.h>
#include <halfgrad/tests/testing/planted/wrong_rounding.h>
#include <halfgrad/tests/testing/planted/wrong_settings.h>
#include <halfgrad/tests/testing/planted/wrong_sizes.h>
#include <halfgrad/tests/testing/planted/wrong_specials.h>
#include <halfgrad/tests/testing/planted/wrong_tiles.h>

/// Wrong kernels by the class of their mistake, at least 20 in each.
namespace halfgrad::testing::planted {

struct WrongClass {
  const char* name;
  std::vector<PlantedKernel> kernels;
  std::uint64_t seeds = 3;  ///< tried by CI
};

inline std::vector<WrongClass> wrong_classes() {
  const auto all = [](std::vector<PlantedKernel> kernels, const auto&... more) {
    ((kernels = joined(std::move(kernels), more)), ...);
    return kernels;
  };
  return {{"sizes", all(wrong_sizes(), wrong_for_whole_blocks(), wrong_short_indices(),
                        wrong_padding(), wrong_long_rows(), wrong_where_blocks_meet(),
                        wrong_counts(), wrong_for_large_tiles())},
          {"specials", all(wrong_specials(), wrong_for_rare_specials(), wrong_masks(), wrong_bits(),
                           wrong_signs_of_zero(), wrong_starts())},
          {"memory", all(wrong_memory(), wrong_in_sealed_memory(), wrong_at_ends_of_pages())},
          {"rounding",
           all(wrong_rounding(), wrong_to_nearest(), wrong_last_digits(), wrong_small_parts())},
          {"races", wrong_races()},
          {"ends", wrong_ends()},
          {"cheats", all(wrong_cheats(), wrong_by_history(), wrong_settings(), wrong_leaks()), 1}};
}

}  // namespace halfgrad::testing::planted
