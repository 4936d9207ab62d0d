#pragma once

#include <cstdint>
#include <string_view>

#include <halfgrad/amp/grad_scaler_options.h>

/// The state machine of a dynamic loss scaler as a value: (state, found_inf) -> state. A GradScaler
/// runs the same formula (scale_update.h) on its device.
namespace halfgrad::amp {

/// What a scaler remembers from one iteration to the next.
struct LossScale {
  double scale;                 ///< of the iteration to come; a float32
  double next_scale = scale;    ///< of the one after, where the rule is one step late; else `scale`
  std::int32_t good_steps = 0;  ///< the growth tracker
  std::int32_t bad_steps = 0;   ///< counted up to the hysteresis
};

/// What an iteration did to the scale.
enum class ScaleEvent : std::uint8_t {
  none,       ///< a good step among others
  growth,     ///< the scale rose
  backoff,    ///< the scale fell
  tolerated,  ///< a bad step that hysteresis passes over
  limited,    ///< the scale was to rise or fall and is at its limit
  set         ///< update(new_scale)
};

/// "none", "growth", ...
std::string_view name(ScaleEvent event);

struct ScaleUpdate {
  LossScale state;
  ScaleEvent event;
};

/// The state before the first iteration.
LossScale initial_scale(const GradScalerOptions& options);

/// The state after an iteration in which some gradient was, or none was, inf or NaN:
///
///   bad:  good_steps = 0;  after `hysteresis` of them scale = max(scale * backoff_factor,
///   min_scale) good, for the growth_interval-th time in a row:
///         good_steps = 0;  scale = min(scale * growth_factor, max_scale), unless that is infinite
///
/// but for what options.rule says. Products are formed in double and rounded to float32.
ScaleUpdate next(const LossScale& state, bool found_inf, const GradScalerOptions& options);

}  // namespace halfgrad::amp
