#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <halfgrad/core/language.h>

namespace halfgrad::amp {

/// Where the dynamic loss scalers of the field differ from PyTorch's, their constants aside; see
/// loss_scalers.h for who does.
struct ScaleRule {
  enum class Growth : std::uint8_t {
    at_interval,  ///< times growth_factor after growth_interval good steps in a row
    every_step,   ///< times growth_factor^(1 / growth_interval) after every good step
    by_two        ///< + 2 after every good step below max_scale; times growth_factor if the scale
                  ///< equals growth_interval
  };
  enum class Forgives : std::uint8_t { good_step, good_step_or_backoff, growth };

  Growth growth = Growth::at_interval;
  std::int32_t after_bad_step = 0;          ///< the growth tracker, at the start too
  std::int32_t after_growth = 0;            ///< the growth tracker
  Forgives forgives = Forgives::good_step;  ///< when hysteresis counts from 0 again
  bool grows_to_infinity = false;           ///< else growth to inf is refused
  bool one_step_late = false;  ///< a verdict shows in the scale of the iteration after the next
};

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
  ScaleRule rule{};
  /// How many of the last steps to keep a report of. A report costs two passes over the gradients,
  /// a third if they were unscaled before the step.
  std::int64_t history = 0;
};

/// Throws std::invalid_argument, beginning with `where`, naming the option that is out of range.
void check_options(const GradScalerOptions& options, const std::string& where);

/// Throws std::invalid_argument, beginning with `where`, for a scale that float32 cannot hold as a
/// positive finite number or that is outside [min_scale, max_scale].
void check_scale(double scale, const GradScalerOptions& options, const std::string& where);

/// The same for a scale that next() cannot reach: as above, but 0 where there is no min_scale and
/// infinity where the rule grows to it are scales, too.
void check_reachable(double scale, const GradScalerOptions& options, const std::string& where);

}  // namespace halfgrad::amp
