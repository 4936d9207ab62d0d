#include <halfgrad/amp/scale_update.h>

#include <halfgrad/amp/loss_scalers/next_by_rule.h>
#include <halfgrad/amp/scale_state.h>
#include <halfgrad/amp/step_pass.h>
#include <halfgrad/amp/unscale.h>
#include <halfgrad/autograd/ops/shared/norm_reductions.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad {
namespace {

using amp::GradScalerOptions;
using amp::LossScale;
using amp::ScaleEvent;
using amp::ScaleUpdate;
using detail::in_float32;
using detail::ScaleState;

// The rule of torch.amp.GradScaler, with the limits and the hysteresis of GradScalerOptions.
HG_HD ScaleUpdate next_by_pytorch(LossScale state, bool found_inf,
                                  const GradScalerOptions& options) {
  const double before = state.scale;
  if (found_inf) {
    state.good_steps = 0;
    if (state.bad_steps < options.hysteresis) ++state.bad_steps;
    if (state.bad_steps < options.hysteresis) return {state, ScaleEvent::tolerated};
    const double lower = before * options.backoff_factor;
    state.scale = in_float32(lower < options.min_scale ? options.min_scale : lower);
    return {state, state.scale < before ? ScaleEvent::backoff : ScaleEvent::limited};
  }
  state.bad_steps = 0;
  if (state.good_steps < options.growth_interval - 1) {
    ++state.good_steps;
    return {state, ScaleEvent::none};
  }
  state.good_steps = 0;
  const double higher = before * options.growth_factor;
  const double grown = in_float32(options.max_scale < higher ? options.max_scale : higher);
  if (!(grown > before) || !math::isfinite(grown)) return {state, ScaleEvent::limited};
  state.scale = grown;
  return {state, ScaleEvent::growth};
}

HG_HD ScaleUpdate next_scale(const LossScale& state, bool found_inf,
                             const GradScalerOptions& options, bool has_foreign_rule) {
  if (has_foreign_rule) return detail::next_by_rule(state, found_inf, options);
  ScaleUpdate update = next_by_pytorch(state, found_inf, options);
  update.state.next_scale = update.state.scale;
  return update;
}

// Runs on the host only, where ScaleRule can be compared; the kernel gets the result.
bool has_foreign_rule(const GradScalerOptions& options) { return options.rule != amp::ScaleRule(); }

// A kernel of one thread: next_scale() applied to the state in device memory.
struct UpdateScale {
  GradScalerOptions options;
  bool has_foreign_rule;
  const float* found_inf;
  float* scale;
  float* next_scale;
  float* inv_scale;
  std::int32_t* growth_tracker;
  std::int32_t* bad_steps;
  std::int32_t* event;
  std::int64_t* counters;

  HG_HD LossScale before() const { return {*next_scale, *next_scale, *growth_tracker, *bad_steps}; }
  HG_HD void operator()(std::int64_t) const { update(before(), *found_inf != 0); }
  HG_HD void update(const LossScale& before, bool bad) const {
    const ScaleUpdate update = halfgrad::next_scale(before, bad, options, has_foreign_rule);
    *scale = static_cast<float>(update.state.scale);
    *next_scale = static_cast<float>(update.state.next_scale);
    *inv_scale = static_cast<float>(1 / update.state.scale);
    *growth_tracker = update.state.good_steps;
    *bad_steps = update.state.bad_steps;
    *event = static_cast<std::int32_t>(update.event);
    if (update.event == ScaleEvent::growth) ++counters[ScaleState::growths];
    if (update.event == ScaleEvent::backoff) ++counters[ScaleState::backoffs];
  }
};

UpdateScale functor(const ScaleState& state, const Array& found_inf,
                    const GradScalerOptions& options) {
  return {options,
          has_foreign_rule(options),
          found_inf.data_as<float>(),
          state.scale.data_as<float>(),
          state.next_scale.data_as<float>(),
          state.inv_scale.data_as<float>(),
          state.growth_tracker.data_as<std::int32_t>(),
          state.bad_steps.data_as<std::int32_t>(),
          state.event.data_as<std::int32_t>(),
          state.counters.data_as<std::int64_t>()};
}

}  // namespace

std::string_view amp::name(ScaleEvent event) {
  constexpr std::string_view kNames[] = {"none",      "growth",  "backoff",
                                         "tolerated", "limited", "set"};
  return kNames[static_cast<std::size_t>(event)];
}

LossScale amp::initial_scale(const GradScalerOptions& options) {
  const double scale = static_cast<float>(options.init_scale);
  return {.scale = scale, .good_steps = options.rule.after_bad_step};
}

ScaleUpdate amp::next(const LossScale& state, bool found_inf, const GradScalerOptions& options) {
  return next_scale(state, found_inf, options, has_foreign_rule(options));
}

void detail::update_scale(const ScaleState& state, std::span<const Array> found_infs,
                          const GradScalerOptions& options) {
  Array found_inf = found_infs[0];
  for (const Array& further : found_infs.subspan(1)) {
    const Array either = Array::empty({}, kFloat, found_inf.device());
    combine_found_inf(either, found_inf, further);
    found_inf = either;
  }
  const UpdateScale update = functor(state, found_inf, options);
  parallel_for_each("update_scale", state.scale.device(), 1, update);
  state.scale.storage()->bump_version();  // a loss scaled before has saved its old scale
}

detail::StepFigures detail::StepFigures::on(Device device) {
  return {.factors = Array::empty({2}, kFloat, device),
          .found_inf = Array::empty({}, kFloat, device),
          .total_norm = Array::empty({}, kFloat, device)};
}

bool detail::run_step_pass(const StepGradients& gradients, const StepParts& parts,
                           const ScaleState& state, const GradScalerOptions& options,
                           const StepFigures& figures, const Array& optimizer_skipped_steps) {
  std::int64_t* const skipped_steps =
      parts.counts_step ? optimizer_skipped_steps.data_as<std::int64_t>() : nullptr;
  const FinishStep<UpdateScale> finish{.update_scale = functor(state, figures.found_inf, options),
                                       .max_norm = static_cast<float>(parts.max_norm.value_or(0)),
                                       .clips = parts.max_norm.has_value(),
                                       .counts_step = parts.counts_step,
                                       .updates_scale = parts.updates_scale,
                                       .unscales_skipped = parts.unscales_skipped,
                                       .inv_scale = state.inv_scale.data_as<float>(),
                                       .factors = figures.factors.data_as<float>(),
                                       .found_inf = figures.found_inf.data_as<float>(),
                                       .total_norm = figures.total_norm.data_as<float>(),
                                       .counters = state.counters.data_as<std::int64_t>(),
                                       .optimizer_skipped_steps = skipped_steps};
  const auto* const inv_scale = state.inv_scale.data_as<float>();
  if (!multi_tensor_norm(Squares(), gradients, inv_scale, finish)) return false;
  if (parts.updates_scale) state.scale.storage()->bump_version();  // as update_scale() does
  return true;
}

bool detail::fits_step_pass(std::span<const Array> elements) {
  return fits_multi_tensor_norm<StepCount>(elements);
}

}  // namespace halfgrad
