#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/engines/sum_reduction.h>
#include <halfgrad/core/hd.h>

namespace halfgrad::detail {

/// The reduction behind sum, mean and every loss: (x_0 + x_1 + ...) / divisor.
struct Total : SumReduction {
  static constexpr bool integers = true;
  double divisor;

  explicit Total(double by = 1) : divisor(by) {}
  template <class T>
  HG_HD T map(T x) const {
    return x;
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    if constexpr (std::is_floating_point_v<T>) total /= static_cast<T>(divisor);
    return total;
  }
};

/// The elementwise a / b that makes a mean of a total.
struct Quotient {
  template <class T>
  HG_HD T operator()(T a, T b) const {
    return a / b;
  }
};

}  // namespace halfgrad::detail
