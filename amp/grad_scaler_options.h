#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <halfgrad/amp/loss_scalers/scale_rule.h>
#include <halfgrad/core/language.h>

namespace halfgrad::amp {

/// Factors, intervals and scales must be positive and finite; the members name further limits.
struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;     ///< > 1; multiplies the scale after growth_interval good steps
  double backoff_factor = 0.5;  ///< < 1; multiplies the scale after a bad step
  std::int32_t growth_interval = 2000;
  bool enabled = true;   ///< false: every method does what plain training would
  double min_scale = 0;  ///< smallest scale after a back-off; 0 is no limit
  double max_scale = std::numeric_limits<double>::infinity();  ///< largest scale after growth
  std::int32_t hysteresis = 1;       ///< bad steps in a row before the scale backs off
  bool check_after_unscale = false;  ///< also skips when unscaling itself overflows (scale < 1)
  ScaleRule rule{};                  ///< PyTorch's, or the rule of a different project
  /// Number of the last steps to keep a report of. A report costs two passes over the gradients,
  /// a third if they were unscaled before the step.
  std::int64_t history = 0;
};

/// Throws std::invalid_argument, beginning with `where`, naming the option that is out of range.
void check_options(const GradScalerOptions& options, const std::string& where);

/// Throws std::invalid_argument, beginning with `where`, for a scale that float32 cannot hold as a
/// positive finite number or that is outside [min_scale, max_scale].
void check_scale(double scale, const GradScalerOptions& options, const std::string& where);

/// Accepts every scale that update() can produce, 0 and infinity included; else throws as
/// check_scale().
void check_reachable(double scale, const GradScalerOptions& options, const std::string& where);

}  // namespace halfgrad::amp
