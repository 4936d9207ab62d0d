#pragma once

#include <cstdint>

#include <halfgrad/amp/scale_update.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/math/math.h>

/// amp::next() for the rules of other projects, on the host and on a device. With the default
/// ScaleRule the result is PyTorch's, which scale_update.cpp computes in fewer lines.
namespace halfgrad::detail {

/// Rounds to float32.
HG_HD inline double in_float32(double x) { return static_cast<double>(static_cast<float>(x)); }

HG_HD inline amp::ScaleUpdate after_bad_step(amp::LossScale state,
                                             const amp::GradScalerOptions& options) {
  const amp::ScaleRule& rule = options.rule;
  state.good_steps = rule.after_bad_step;
  if (state.bad_steps < options.hysteresis) ++state.bad_steps;
  if (state.bad_steps < options.hysteresis) return {state, amp::ScaleEvent::tolerated};
  if (rule.forgives == amp::ScaleRule::Forgives::good_step_or_backoff) state.bad_steps = 0;
  const double before = state.next_scale;
  const double lower = before * options.backoff_factor;
  state.next_scale = in_float32(lower < options.min_scale ? options.min_scale : lower);
  const bool fell = state.next_scale < before;
  return {state, fell ? amp::ScaleEvent::backoff : amp::ScaleEvent::limited};
}

HG_HD inline double grown(double scale, const amp::GradScalerOptions& options) {
  using Growth = amp::ScaleRule::Growth;
  const double interval = options.growth_interval;
  double factor = options.growth_factor;
  switch (options.rule.growth) {
    case Growth::by_two:
      if (scale >= options.max_scale) return scale;
      return scale == interval ? scale * factor : scale + 2;
    case Growth::every_step:
      factor = math::pow(factor, 1 / interval);
      break;
    case Growth::at_interval:
      break;
  }
  const double higher = scale * factor;
  return options.max_scale < higher ? options.max_scale : higher;
}

HG_HD inline amp::ScaleUpdate after_good_step(amp::LossScale state,
                                              const amp::GradScalerOptions& options) {
  const amp::ScaleRule& rule = options.rule;
  const std::int64_t good_steps = std::int64_t{state.good_steps} + 1;
  if (rule.forgives != amp::ScaleRule::Forgives::growth) state.bad_steps = 0;
  if (rule.growth == amp::ScaleRule::Growth::at_interval && good_steps < options.growth_interval) {
    state.good_steps = static_cast<std::int32_t>(good_steps);
    return {state, amp::ScaleEvent::none};
  }
  state.good_steps = rule.after_growth;
  state.bad_steps = 0;
  const double before = state.next_scale;
  const double higher = in_float32(grown(before, options));
  if (!(higher > before) || !(math::isfinite(higher) || rule.grows_to_infinity)) {
    return {state, amp::ScaleEvent::limited};
  }
  state.next_scale = higher;
  return {state, amp::ScaleEvent::growth};
}

HG_HD inline amp::ScaleUpdate next_by_rule(const amp::LossScale& state, bool found_inf,
                                           const amp::GradScalerOptions& options) {
  amp::ScaleUpdate update =
      found_inf ? after_bad_step(state, options) : after_good_step(state, options);
  update.state.scale = options.rule.one_step_late ? state.next_scale : update.state.next_scale;
  return update;
}

}  // namespace halfgrad::detail
