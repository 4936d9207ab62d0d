// Exercise 6: the state machine of a GradScaler.
#include "exercise.h"

#include <cmath>

State next(State state, bool found_inf, const Options& options) {
  // solution begin
  // blank: static_cast<void>(found_inf);
  // blank: static_cast<void>(options);
  if (found_inf) {
    state.scale = static_cast<float>(state.scale * options.backoff_factor);
    state.good_steps = 0;
    return state;
  }
  ++state.good_steps;
  if (state.good_steps < options.growth_interval) return state;
  state.good_steps = 0;
  const auto grown = static_cast<float>(state.scale * options.growth_factor);
  if (std::isfinite(grown)) state.scale = grown;
  // solution end
  return state;
}
