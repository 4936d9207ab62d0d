#pragma once

#include <cmath>
#include <cstdint>

#include <halfgrad/core/hd.h>
#include <halfgrad/optim/group_options.h>

namespace halfgrad::detail {

/// Step count of a parameter, in device memory, and what Adam computes from it once a step, since
/// powers are slow:
///
///     bias_correction1 = 1 - beta1^t
///     bias_correction2 = 1 - beta2^t
struct StepCount {
  float* step;  ///< null: the optimizer does not count the parameter's steps
  const GroupOptions* options;
  /// 1 / bias_correction1 and 1 / sqrt(bias_correction2); null for an optimizer without them.
  double* corrections;

  HG_HD static double inv_bias_correction1(const GroupOptions& options, double t) {
    return 1 / (1 - std::pow(options.beta1, t));
  }
  HG_HD static double inv_sqrt_bias_correction2(const GroupOptions& options, double t) {
    return 1 / std::sqrt(1 - std::pow(options.beta2, t));
  }

  HG_HD void advance() const {
    if (step == nullptr) return;
    const double t = static_cast<double>(*step) + 1;
    *step = static_cast<float>(t);
    if (corrections == nullptr) return;
    corrections[0] = inv_bias_correction1(*options, t);
    corrections[1] = inv_sqrt_bias_correction2(*options, t);
  }
};

}  // namespace halfgrad::detail
