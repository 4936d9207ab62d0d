#pragma once

#include <cstdint>

namespace halfgrad::amp {

/// How other projects' dynamic loss scalers differ from PyTorch's beyond their constants. The
/// default is PyTorch's rule; loss_scalers.cpp lists the rule of each project.
struct ScaleRule {
  enum class Growth : std::uint8_t {
    at_interval,  ///< times growth_factor after growth_interval good steps in a row
    every_step,   ///< times growth_factor^(1 / growth_interval) after every good step
    by_two        ///< + 2 after every good step below max_scale; times growth_factor if the scale
                  ///< equals growth_interval
  };
  /// The event after which hysteresis counts bad steps from 0 again.
  enum class Forgives : std::uint8_t { good_step, good_step_or_backoff, growth };

  Growth growth = Growth::at_interval;
  std::int32_t after_bad_step = 0;  ///< the growth tracker's value, also at the start
  std::int32_t after_growth = 0;    ///< the growth tracker's value
  Forgives forgives = Forgives::good_step;
  bool grows_to_infinity = false;  ///< false: growth to infinity is refused
  bool one_step_late = false;      ///< found_inf changes the scale of the iteration after the next

  friend bool operator==(const ScaleRule&, const ScaleRule&) = default;
};

}  // namespace halfgrad::amp
