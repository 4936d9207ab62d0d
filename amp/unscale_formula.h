#pragma once

#include <halfgrad/core/math.h>
#include <halfgrad/core/multi_tensor.h>

/// What unscaling does with an element of a gradient: a formula of core/multi_tensor.h.
namespace halfgrad::detail {

/// y = x * inv_scale, finite where |x * probe| < limit, and written back if `kWrite`. `kStopsEarly`
/// is a bug of docs/labs.md.
template <bool kWrite, bool kStopsEarly = false>
struct UnscaleFormula {
  static constexpr unsigned kWrites = kWrite ? 1 : 0;

  float inv_scale;
  float probe;
  double limit;
  float* found_inf;

  template <class T>
  HG_HD void operator()(T& gradient) const {
    if (kStopsEarly && *found_inf != 0) return;
    if (!all(math::abs(gradient * T(probe)) < T(limit))) raise_flag(found_inf);
    if constexpr (kWrite) gradient = gradient * T(inv_scale);
  }
};

template <bool kWrite, bool kStopsEarly = false>
struct Unscale {
  const float* inv_scale;
  bool check_after;
  double limit;
  float* found_inf;

  HG_HD UnscaleFormula<kWrite, kStopsEarly> make() const {
    return {*inv_scale, check_after ? *inv_scale : 1, limit, found_inf};
  }
};

}  // namespace halfgrad::detail
