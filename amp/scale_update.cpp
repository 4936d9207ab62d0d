#include <halfgrad/amp/scale_update.h>

#include <halfgrad/amp/loss_scalers/next_by_rule.h>

namespace halfgrad::amp {

std::string_view name(ScaleEvent event) {
  constexpr std::string_view kNames[] = {"none",      "growth",  "backoff",
                                         "tolerated", "limited", "set"};
  return kNames[static_cast<std::size_t>(event)];
}

LossScale initial_scale(const GradScalerOptions& options) {
  const double scale = static_cast<float>(options.init_scale);
  return {.scale = scale, .good_steps = options.rule.after_bad_step};
}

ScaleUpdate next(const LossScale& state, bool found_inf, const GradScalerOptions& options) {
  return detail::next_loss_scale(state, found_inf, options);
}

}  // namespace halfgrad::amp
