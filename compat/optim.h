#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <halfgrad/compat/option.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/optim.h>

/// libtorch's options of optimizers: `optim::SGD(parameters,
/// optim::SGDOptions(0.1).momentum(0.9))`. Each converts to the plain struct that the optimizer
/// takes.
namespace halfgrad::optim {

/// The two betas, from libtorch's std::tuple or from a std::pair.
class Betas {
 public:
  Betas(double beta1, double beta2) : pair_(beta1, beta2) {}
  Betas(std::pair<double, double> pair) : pair_(pair) {}
  Betas(std::tuple<double, double> pair) : pair_(std::get<0>(pair), std::get<1>(pair)) {}
  operator std::pair<double, double>() const { return pair_; }
  operator std::tuple<double, double>() const { return {pair_.first, pair_.second}; }

 private:
  std::pair<double, double> pair_;
};

class SGDOptions {
 public:
  SGDOptions(double lr) : lr_(lr) {}
  operator SGDArguments() const {
    return {.lr = lr_,
            .momentum = momentum_,
            .dampening = dampening_,
            .weight_decay = weight_decay_,
            .nesterov = nesterov_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;
};

class AdamOptions {
 public:
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  operator AdamArguments() const {
    return {.lr = lr_,
            .betas = betas_,
            .eps = eps_,
            .weight_decay = weight_decay_,
            .amsgrad = amsgrad_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(Betas, betas) = {0.9, 0.999};
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, amsgrad) = false;
};

class AdamWOptions {
 public:
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  operator AdamWArguments() const {
    return {.lr = lr_,
            .betas = betas_,
            .eps = eps_,
            .weight_decay = weight_decay_,
            .amsgrad = amsgrad_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(Betas, betas) = {0.9, 0.999};
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;
};

class RMSpropOptions {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  operator RMSpropArguments() const {
    return {.lr = lr_,
            .alpha = alpha_,
            .eps = eps_,
            .weight_decay = weight_decay_,
            .momentum = momentum_,
            .centered = centered_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(double, alpha) = 0.99;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(bool, centered) = false;
};

class AdagradOptions {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  operator AdagradArguments() const {
    return {.lr = lr_,
            .lr_decay = lr_decay_,
            .weight_decay = weight_decay_,
            .initial_accumulator_value = initial_accumulator_value_,
            .eps = eps_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;
};

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

/// The learning rate of a group: `group.options().get_lr()`, `group.options().set_lr(0.1)`. Other
/// options are members of the group itself: `group.momentum = 0.9`.
class LearningRateOption {
 public:
  explicit LearningRateOption(ParamGroup& group) : group_(group) {}
  double get_lr() const { return group_.lr.value(); }
  void set_lr(double lr) const { group_.lr = lr; }

 private:
  ParamGroup& group_;
};
inline LearningRateOption ParamGroup::options() { return LearningRateOption(*this); }

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

  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min,
                                      double factor = 0.1, int patience = 10,
                                      double threshold = 1e-4, ThresholdMode threshold_mode = rel,
                                      int cooldown = 0, const std::vector<double>& min_lr = {},
                                      double eps = 1e-8)
      : ReduceLROnPlateau(optimizer, {.mode = mode,
                                      .factor = factor,
                                      .patience = patience,
                                      .threshold = threshold,
                                      .threshold_mode = threshold_mode,
                                      .cooldown = cooldown,
                                      .min_lr = min_lr.empty() ? std::vector<double>{0} : min_lr,
                                      .eps = eps}) {}
};

}  // namespace halfgrad::optim
