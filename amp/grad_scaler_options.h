#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace halfgrad::amp {

/// Factors, intervals and scales must be positive and finite; see each for more.
struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;     ///< > 1; the scale after growth_interval good steps in a row
  double backoff_factor = 0.5;  ///< < 1; the scale after a bad step
  std::int32_t growth_interval = 2000;
  bool enabled = true;   ///< false: every method does what plain training would
  double min_scale = 0;  ///< no back-off goes below; 0 is no limit
  double max_scale = std::numeric_limits<double>::infinity();  ///< no growth goes above
  std::int32_t hysteresis = 1;       ///< bad steps in a row before the scale backs off
  bool check_after_unscale = false;  ///< also skip when unscaling itself overflows (scale < 1)
};

/// Throws std::invalid_argument, beginning with `where`, naming the option that is out of range.
void check_options(const GradScalerOptions& options, const std::string& where);

/// Throws std::invalid_argument, beginning with `where`, for a scale that float32 cannot hold as a
/// positive finite number or that is outside [min_scale, max_scale].
void check_scale(double scale, const GradScalerOptions& options, const std::string& where);

}  // namespace halfgrad::amp
