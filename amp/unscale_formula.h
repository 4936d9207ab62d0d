#pragma once

#include <halfgrad/core/engines/multi_tensor.h>
#include <halfgrad/core/math/math.h>

/// The formula of unscaling, for each element of a gradient: see core/engines/multi_tensor.h.
namespace halfgrad::detail {

/// y = x * inv_scale, written back if `kWrite`; sets found_inf unless |x * probe| < limit.
template <bool kWrite>
struct UnscaleFormula {
  static constexpr unsigned kWrites = kWrite ? operands(0) : 0;

  float inv_scale;
  float probe;
  double limit;
  float* found_inf;

  template <class T>
  HG_HD void operator()(T& gradient) const {
    if (!all(math::abs(gradient * T(probe)) < T(limit))) raise_flag(found_inf);
    if constexpr (kWrite) gradient = gradient * T(inv_scale);
  }
};

/// Makes the formula on the device, where 1 / scale lies.
template <bool kWrite>
struct Unscale {
  const float* inv_scale;
  bool check_after;
  double limit;
  float* found_inf;

  HG_HD UnscaleFormula<kWrite> make() const {
    return {*inv_scale, check_after ? *inv_scale : 1, limit, found_inf};
  }
};

}  // namespace halfgrad::detail
