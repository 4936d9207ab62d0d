#include <halfgrad/optim/reduce_lr_on_plateau.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/check_option.h>

namespace halfgrad::optim {

namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, ReduceLROnPlateauOptions options)
    : optimizer_(optimizer),
      options_(std::move(options)),
      state_{.best = options_.mode == PlateauMode::min ? kWorst : -kWorst} {
  halfgrad::detail::check_option(options_.factor < 1, "ReduceLROnPlateau", "factor < 1",
                                 options_.factor);
  check_groups();
}

void ReduceLROnPlateau::check_groups() const {
  const std::size_t groups = optimizer_.param_groups().size(), given = options_.min_lr.size();
  if (given == 1 || given == groups) return;
  halfgrad::detail::fail("ReduceLROnPlateau", "expected 1 or {} values of min_lr, got {}", groups,
                         given);
}

double ReduceLROnPlateau::min_lr(std::size_t group) const {
  return options_.min_lr.size() == 1 ? options_.min_lr[0] : options_.min_lr[group];
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const bool rises = options_.mode == PlateauMode::max;
  const double change = rises ? options_.threshold : -options_.threshold;
  const double bound = options_.threshold_mode == ThresholdMode::rel ? state_.best * (1 + change)
                                                                     : state_.best + change;
  return rises ? metric > bound : metric < bound;
}

void ReduceLROnPlateau::step(double metric) {
  check_groups();
  ++state_.last_epoch;
  if (is_better(metric)) {
    state_.best = metric;
    state_.num_bad_epochs = 0;
  } else {
    ++state_.num_bad_epochs;
  }
  if (state_.cooldown_counter > 0) {
    --state_.cooldown_counter;
    state_.num_bad_epochs = 0;
  }
  if (state_.num_bad_epochs > options_.patience) {
    reduce_lr();
    state_.cooldown_counter = options_.cooldown;
    state_.num_bad_epochs = 0;
  }
}

void ReduceLROnPlateau::reduce_lr() {
  auto& groups = optimizer_.param_groups();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double old = groups[i].get_lr();
    const double reduced = std::max(old * options_.factor, min_lr(i));
    if (old - reduced > options_.eps) groups[i].set_lr(reduced);
  }
}

std::vector<double> ReduceLROnPlateau::get_last_lr() const {
  std::vector<double> rates;
  for (const ParamGroup& group : optimizer_.param_groups()) rates.push_back(group.get_lr());
  return rates;
}

}  // namespace halfgrad::optim
