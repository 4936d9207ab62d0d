#include <halfgrad/amp/loss_scalers/replay.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include <halfgrad/amp/scale_update.h>

namespace halfgrad::amp {
namespace {

// The median limit; 0 if every step overflows with every scale.
double useful_scale(OverflowTrace limits) {
  std::erase_if(limits, [](double limit) { return std::isnan(limit); });
  if (limits.empty()) return 0;
  const auto middle = limits.begin() + std::ssize(limits) / 2;
  std::nth_element(limits.begin(), middle, limits.end());
  return *middle;
}

}  // namespace

ReplayResult replay(const GradScalerOptions& options, const OverflowTrace& limits) {
  const double useful = useful_scale(limits);
  ReplayResult result;
  LossScale state = initial_scale(options);
  for (const double limit : limits) {
    const bool found_inf = !(state.scale <= limit);
    if (found_inf) ++result.wasted;
    if (useful > 0 && state.scale <= useful / 2) ++result.below;
    state = next(state, found_inf, options).state;
  }
  result.final_scale = state.scale;
  return result;
}

}  // namespace halfgrad::amp
