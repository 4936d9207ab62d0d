#pragma once

#include <cstdint>
#include <string_view>

#include <halfgrad/amp/grad_scaler_options.h>

/// The state machine of a dynamic loss scaler as a value: (state, found_inf) -> state. A GradScaler
/// runs the same formula on its device.
namespace halfgrad::amp {

/// The state that a scaler carries from one iteration to the next.
struct LossScale {
  double scale;                 ///< in the next iteration, a float32 value
  double next_scale = scale;    ///< in the iteration after that, if the rule is one step late
  std::int32_t good_steps = 0;  ///< the growth tracker
  std::int32_t bad_steps = 0;   ///< bad steps in a row, counted up to the hysteresis
};

/// The effect of an iteration on the scale.
enum class ScaleEvent : std::uint8_t {
  none,       ///< a good step, and not yet growth_interval of them in a row
  growth,     ///< the scale rose
  backoff,    ///< the scale fell
  tolerated,  ///< a bad step that hysteresis forgives
  limited,    ///< a limit kept the scale from rising or falling
  set         ///< update(new_scale)
};

/// "none", "growth", ...
std::string_view name(ScaleEvent event);

/// The state after an iteration, and what happened to the scale in it.
struct ScaleUpdate {
  LossScale state;
  ScaleEvent event;
};

/// The state before the first iteration.
LossScale initial_scale(const GradScalerOptions& options);

/// The state after an iteration that found an inf or a NaN in a gradient (bad) or did not (good):
///
///     bad:   good_steps = 0
///            scale = max(scale * backoff_factor, min_scale)  from the `hysteresis`-th in a row on
///
///     good:  good_steps = good_steps + 1; when that is growth_interval:
///            good_steps = 0
///            scale = min(scale * growth_factor, max_scale)   unless that is infinite
///
/// Products are formed in double and rounded to float32. `options.rule` other than the default
/// replaces all of this by another project's rule.
ScaleUpdate next(const LossScale& state, bool found_inf, const GradScalerOptions& options);

}  // namespace halfgrad::amp
