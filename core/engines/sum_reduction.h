#pragma once

#include <cstdint>

#include <halfgrad/core/hd.h>

namespace halfgrad::detail {

/// Base of the reductions that add: sum over i of map(x_i), where the derived class has map(). See
/// core/engines/reduce.h.
struct SumReduction {
  static constexpr bool integers = false;

  template <class T>
  HG_HD static T identity() {
    return T(0);
  }
  template <class T>
  HG_HD T combine(T a, T b) const {
    return a + b;
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    return total;
  }
};

}  // namespace halfgrad::detail
