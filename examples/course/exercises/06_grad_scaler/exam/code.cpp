// The scaler under test.
#include "exam.h"

#include <algorithm>
#include <cmath>

double Scaler::scaled(double loss) const { return loss * scale_; }

bool Scaler::step(Vector& weights, Vector& gradients, double lr) {
  bool found_inf = false;
  for (double& gradient : gradients) {
    found_inf = found_inf || !std::isfinite(gradient);
    // bug nan_is_finite: found_inf = found_inf || std::isinf(gradient);
    // bug only_the_last_counts: found_inf = !std::isfinite(gradient);
    gradient /= scale_;
    // bug never_unscaled: gradient *= 1;
    // bug unscale_stops_early: if (!found_inf) gradient /= scale_;
  }
  found_inf_ = found_inf_ || found_inf;
  // bug last_list_decides: found_inf_ = found_inf;
  if (found_inf) return false;
  // bug skips_nothing: static_cast<void>(0);
  // bug skips_other_lists: if (found_inf_) return false;
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= lr * gradients[i];
  return true;
}

void Scaler::update() {
  const bool found_inf = found_inf_;
  found_inf_ = false;
  // bug found_inf_stays: static_cast<void>(0);
  if (found_inf) {
    good_steps_ = 0;
    // bug tracker_kept_after_bad: static_cast<void>(0);
    scale_ = std::max(scale_ * options_.backoff_factor, options_.min_scale);
    // bug min_scale_lost: scale_ = scale_ * options_.backoff_factor;
    // bug factors_swapped: scale_ = std::max(scale_ / options_.growth_factor, options_.min_scale);
    return;
  }
  ++good_steps_;
  if (good_steps_ < options_.growth_interval) return;
  // bug late_growth: if (good_steps_ <= options_.growth_interval) return;
  good_steps_ = 0;
  // bug tracker_kept_after_growth: static_cast<void>(0);
  const double grown = scale_ * options_.growth_factor;
  if (std::isfinite(grown)) scale_ = grown;
  // bug unlimited_growth: scale_ = grown;
}
