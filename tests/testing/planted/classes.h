#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/wrong_cheats.h>
#include <halfgrad/tests/testing/planted/wrong_ends.h>
#include <halfgrad/tests/testing/planted/wrong_memory.h>
#include <halfgrad/tests/testing/planted/wrong_races.h>
#include <halfgrad/tests/testing/planted/wrong_rounding.h>
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
  return {{"sizes", wrong_sizes()},     {"specials", wrong_specials()},
          {"memory", wrong_memory()},   {"rounding", wrong_rounding()},
          {"races", wrong_races()},     {"ends", wrong_ends()},
          {"cheats", wrong_cheats(), 1}};
}

}  // namespace halfgrad::testing::planted
