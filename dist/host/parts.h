#pragma once

#include <algorithm>
#include <cstdint>

namespace halfgrad::dist {

/// The cut of n elements into one part for each rank. Sizes differ by one element at most.
struct Parts {
  std::int64_t n;
  int ranks;

  std::int64_t begin(int rank) const {
    return n / ranks * rank + std::min<std::int64_t>(n % ranks, rank);
  }
  std::int64_t size(int rank) const { return begin(rank + 1) - begin(rank); }
};

}  // namespace halfgrad::dist
