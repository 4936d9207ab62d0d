#include <halfgrad/optim/one_cycle_lr.h>

#include <cmath>
#include <numbers>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/check_option.h>

namespace halfgrad::optim {
namespace {

std::int64_t steps_in(const OneCycleLROptions& options) {
  const std::int64_t product = options.epochs.value_or(0) * options.steps_per_epoch.value_or(0);
  return options.total_steps.value_or(product);
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleLROptions options)
    : LRScheduler(optimizer), options_(std::move(options)), total_steps_(steps_in(options_)) {
  using halfgrad::detail::check_option;
  const OneCycleLROptions& o = options_;
  auto& groups = optimizer.param_groups();
  check_option(total_steps_ > 0, "OneCycleLR", "total_steps or epochs * steps_per_epoch > 0",
               static_cast<double>(total_steps_));
  check_option(o.pct_start >= 0 && o.pct_start <= 1, "OneCycleLR", "pct_start in [0, 1]",
               o.pct_start);
  if (o.max_lr.size() == 1) options_.max_lr.assign(groups.size(), o.max_lr[0]);
  check_groups();
  for (const ParamGroup& group : groups) {
    if (o.cycle_momentum && !group.momentum.has_value() && !group.betas.has_value()) {
      halfgrad::detail::fail("OneCycleLR",
                             "expected an optimizer with momentum or betas to cycle, got {}",
                             optimizer.name());
    }
  }

  const double initial = 1 / o.div_factor;
  const double final = initial / o.final_div_factor;
  const double rise = o.pct_start * static_cast<double>(total_steps_);
  const auto last = static_cast<double>(total_steps_ - 1);
  phases_.push_back({rise - 1, initial, 1, o.max_momentum, o.base_momentum});
  if (o.three_phase) {
    phases_.push_back({2 * rise - 2, 1, initial, o.base_momentum, o.max_momentum});
    phases_.push_back({last, initial, final, o.max_momentum, o.max_momentum});
  } else {
    phases_.push_back({last, 1, final, o.base_momentum, o.max_momentum});
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    set_base_lr(i, options_.max_lr[i] / options_.div_factor);
  }
  set_rates();
}

void OneCycleLR::check_groups() const {
  const std::size_t groups = optimizer().param_groups().size();
  if (options_.max_lr.size() == groups) return;
  halfgrad::detail::fail("OneCycleLR",
                         "expected one max_lr or one for each of the {} groups, got {}", groups,
                         options_.max_lr.size());
}

double OneCycleLR::anneal(double start, double end, double fraction) const {
  if (options_.anneal_strategy == AnnealStrategy::linear) return start + (end - start) * fraction;
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * fraction));
}

double OneCycleLR::next_lr(ParamGroup& group, std::size_t index) {
  if (last_epoch() > total_steps_) {
    halfgrad::detail::fail<std::runtime_error>(
        "OneCycleLR", "expected at most {} steps, got one more", total_steps_);
  }
  const auto step = static_cast<double>(last_epoch());
  double start_step = 0;
  std::size_t i = 0;
  for (; i + 1 < phases_.size() && step > phases_[i].end_step; ++i)
    start_step = phases_[i].end_step;
  const Phase& phase = phases_[i];
  const double length = phase.end_step - start_step;
  const double fraction = length != 0 ? (step - start_step) / length : 1;

  if (options_.cycle_momentum) {
    const double momentum = anneal(phase.start_momentum, phase.end_momentum, fraction);
    if (group.betas.has_value()) {
      group.betas->first = momentum;
    } else {
      group.momentum = momentum;
    }
  }
  return anneal(phase.start_lr, phase.end_lr, fraction) * options_.max_lr[index];
}

}  // namespace halfgrad::optim
