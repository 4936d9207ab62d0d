#pragma once

#include <cstdint>
#include <limits>

#include <halfgrad/autograd/ops/shared/total.h>
#include <halfgrad/core/math/math.h>

/// The reductions behind the p-norm, finish(combine(map(x_0), map(x_1), ...)): see
/// core/engines/reduce.h.
namespace halfgrad::detail {

struct NonZeros : SumReduction {  // p = 0
  template <class T>
  HG_HD T map(T x) const {
    return select(x != T(0), T(1), T(0));
  }
};

struct Magnitudes : SumReduction {  // p = 1
  template <class T>
  HG_HD T map(T x) const {
    return math::abs(x);
  }
};

struct Squares : SumReduction {  // p = 2
  template <class T>
  HG_HD T map(T x) const {
    return x * x;
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    return math::sqrt(total);
  }
};

struct Powers : SumReduction {  // any other p
  double p;

  explicit Powers(double exponent) : p(exponent) {}
  template <class T>
  HG_HD T map(T x) const {
    return math::pow(math::abs(x), T(p));
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    return math::pow(total, T(1 / p));
  }
};

template <bool kMax>
struct ExtremeMagnitude : SumReduction {  // p = inf, -inf
  template <class T>
  HG_HD static T identity() {
    return T(kMax ? 0 : std::numeric_limits<double>::infinity());
  }
  template <class T>
  HG_HD T map(T x) const {
    return math::abs(x);
  }
  template <class T>
  HG_HD T combine(T a, T b) const {
    return kMax ? math::maximum(a, b) : math::minimum(a, b);
  }
};

}  // namespace halfgrad::detail
