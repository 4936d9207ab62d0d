#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/compat/optim_options.h>
#include <halfgrad/compat/option.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/optim.h>

/// libtorch's options of LBFGS, and its constructors of schedulers. Those of other optimizers are
/// in optim_options.h.
namespace halfgrad::optim {

class LBFGSOptions {
 public:
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  /// Throws std::invalid_argument for a line search other than "strong_wolfe".
  operator LBFGSArguments() const {
    if (line_search_fn_ && *line_search_fn_ != "strong_wolfe") {
      halfgrad::detail::fail("LBFGS", "expected line_search_fn \"strong_wolfe\", got \"{}\"",
                             *line_search_fn_);
    }
    return {.lr = lr_,
            .max_iter = max_iter_,
            .max_eval = max_eval_,
            .tolerance_grad = tolerance_grad_,
            .tolerance_change = tolerance_change_,
            .history_size = history_size_,
            .line_search_fn = line_search_fn_ ? LineSearch::strong_wolfe : LineSearch::none};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(std::int64_t, max_iter) = 20;
  TORCH_ARG(std::optional<std::int64_t>, max_eval) = std::nullopt;
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  TORCH_ARG(double, tolerance_change) = 1e-9;
  TORCH_ARG(std::int64_t, history_size) = 100;
  TORCH_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;
};

/// libtorch's StepLR: the call of step() with number k >= 1, counted from 0, multiplies lr by gamma
/// if `step_size` divides k. In Python, and with EpochStepLR, each decay comes one call earlier.
/// Throws std::invalid_argument if step_size is 0.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1)
      : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
    if (step_size == 0) halfgrad::detail::fail("StepLR", "expected step_size > 0, got {}", 0);
  }

 private:
  double next_lr(ParamGroup& group, std::size_t /*index*/) override {
    const bool drop = step_count_ > 0 && step_count_ % step_size_ == 0;
    return drop ? group.lr.value() * gamma_ : group.lr.value();
  }
  unsigned step_size_;
  double gamma_;
};

/// libtorch's constructor of ReduceLROnPlateau, with its names of the modes.
class ReduceLROnPlateauScheduler : public ReduceLROnPlateau {
 public:
  using SchedulerMode = PlateauMode;
  using ThresholdMode = optim::ThresholdMode;
  static constexpr SchedulerMode min = PlateauMode::min, max = PlateauMode::max;
  static constexpr ThresholdMode rel = ThresholdMode::rel, abs = ThresholdMode::abs;

  /// `min_lr` is a vector of floating-point values. `verbose` prints every change of a rate.
  template <class Rates = std::vector<double>>
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min,
                                      double factor = 0.1, int patience = 10,
                                      double threshold = 1e-4, ThresholdMode threshold_mode = rel,
                                      int cooldown = 0, const Rates& min_lr = {}, double eps = 1e-8,
                                      bool verbose = false)
      : ReduceLROnPlateau(optimizer, {.mode = mode,
                                      .factor = factor,
                                      .patience = patience,
                                      .threshold = threshold,
                                      .threshold_mode = threshold_mode,
                                      .cooldown = cooldown,
                                      .min_lr = min_lr.empty() ? std::vector<double>{0}
                                                               : std::vector<double>(min_lr.begin(),
                                                                                     min_lr.end()),
                                      .eps = eps}),
        verbose_(verbose) {}

  /// As ReduceLROnPlateau::step().
  void step(double metric);

 private:
  bool verbose_;
};

}  // namespace halfgrad::optim
