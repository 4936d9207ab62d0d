#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <halfgrad/optim/lr_scheduler.h>

namespace halfgrad::optim {

enum class AnnealStrategy { cos, linear };

struct OneCycleLROptions {
  std::vector<double> max_lr;  ///< one for all groups, or one for each
  /// Length of the cycle, unless epochs * steps_per_epoch gives it.
  std::optional<std::int64_t> total_steps{};
  std::optional<std::int64_t> epochs{};
  std::optional<std::int64_t> steps_per_epoch{};
  double pct_start = 0.3;  ///< share of the cycle in which lr rises
  AnnealStrategy anneal_strategy = AnnealStrategy::cos;
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
  double div_factor = 25;         ///< max_lr / lr at the start
  double final_div_factor = 1e4;  ///< lr at the start / lr at the end
  bool three_phase = false;
};

/// The one-cycle policy (Smith and Topin 2018), as torch's OneCycleLR. lr rises from
/// max_lr / div_factor to max_lr, then falls to max_lr / div_factor / final_div_factor. With
/// `three_phase` it first falls back to its first value, as fast as it rose. Momentum (SGD) or
/// the first beta (Adam) moves the other way between max_momentum and base_momentum. Call step()
/// after every optimizer step. The groups' initial_lr becomes max_lr / div_factor; a schedule that
/// is built later starts from it.
///
/// The constructor throws std::invalid_argument if the number of steps is missing or not positive,
/// pct_start is outside [0, 1], max_lr does not fit the groups, or cycle_momentum is on for an
/// optimizer without momentum or betas. step() throws std::runtime_error after total_steps.
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options);

 private:
  struct Phase {
    double end_step;          // the next phase starts here
    double start_lr, end_lr;  // as fractions of max_lr
    double start_momentum, end_momentum;
  };

  double next_lr(ParamGroup& group, std::size_t index) override;
  void check_groups() const override;
  double anneal(double start, double end, double fraction) const;

  OneCycleLROptions options_;
  std::int64_t total_steps_;
  std::vector<Phase> phases_;
};

}  // namespace halfgrad::optim
