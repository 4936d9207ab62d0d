#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <halfgrad/core/plain_names.h>
#include <halfgrad/optim/optimizer.h>

/// Learning-rate schedules, as torch.optim.lr_scheduler: call `scheduler.step()` once after each
/// epoch (or optimizer step); it sets lr of every parameter group. "Epoch" k below is the number of
/// step() calls, without those before which a GradScaler skipped every optimizer step since the
/// previous call.
///
/// All schedules except LambdaLR and OneCycleLR change the group's current lr by a factor or
/// increment, so several of them may act on one optimizer. Groups that are added to the optimizer
/// later take part from then on, each from its own rate. LambdaLR and OneCycleLR have functions and
/// rates for the first groups only: with a later group they throw std::invalid_argument, and change
/// nothing.
namespace halfgrad::optim {

/// A schedule's position. The options are not part of it, and lr itself is in the optimizer's
/// state.
struct LRSchedulerState {
  std::int64_t last_epoch = 0;
  std::vector<double> base_lrs;
  std::vector<double> last_lr;
  /// The optimizer's steps since the last step(): if all were skipped, the next one does not count.
  std::int64_t pending_steps = 0, pending_skipped = 0;
  std::vector<LRSchedulerState> schedulers{};  ///< parts of a SequentialLR
  double fraction = 0;  ///< the present epoch is last_epoch + fraction, if a schedule has fractions
};

/// Base class of schedulers: sets the learning rate of every parameter group once an epoch. A class
/// that derives from it overrides next_lr(), or get_lrs() as in libtorch.
class LRScheduler {
 public:
  /// The groups' initial_lr are the base rates; an empty initial_lr is set to lr.
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler() = 0;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Begins the next epoch, unless all of the optimizer's steps since the last call, or since its
  /// load_state_dict(), were skipped. On a GPU only the device knows that: step() waits for it once
  /// a GradScaler has stepped there. A graph's replays count only if they skip, so call step()
  /// after each.
  void step();

  /// Makes every call of step() count, as in PyTorch, where warm-up proceeds while the first scales
  /// fail. Then step() never waits.
  void count_skipped_steps(bool count = true) { count_skipped_steps_ = count; }

  /// The rates that the last step() set, by group.
  const std::vector<double>& get_last_lr() const { return last_lr_; }

  std::int64_t last_epoch() const { return last_epoch_; }
  Optimizer& optimizer() const { return optimizer_; }

  virtual LRSchedulerState state_dict() const;

  /// Continues from a state_dict(); the optimizer's own state has to be loaded first.
  /// Throws std::invalid_argument if the number of groups differs.
  virtual void load_state_dict(const LRSchedulerState& state);

 protected:
  /// Returns lr of `group` in epoch last_epoch(), from its present lr, which is the default. May
  /// change other options.
  virtual double next_lr(ParamGroup& group, std::size_t index);

  /// Returns lr of each group in epoch last_epoch(). The default asks next_lr().
  virtual std::vector<double> get_lrs();

  std::vector<double> get_current_lrs() const;

  unsigned step_count_ =
      0;  ///< epochs before the one that get_lrs() computes: 0 in the first step()

  virtual void advance();

  /// Throws std::invalid_argument if the optimizer has groups without rates here.
  virtual void check_groups() const {}

  /// For constructors: replaces a group's initial_lr.
  void set_base_lr(std::size_t index, double lr);

  /// Sets the groups' rates for last_epoch(). Constructors call it for epoch 0.
  void set_rates();

  double base_lr(std::size_t index) const { return base_lrs_[index]; }

  /// Sets the groups' rates for epoch 0 after another schedule of a sequence.
  virtual void take_over() { restart(base_lrs_); }

 private:
  friend class SequentialLR;
  void take_in_groups();
  void restart(const std::vector<double>& rates);

  // The optimizer's steps so far, and how many of them were skipped: 0 if skipped steps count.
  struct StepCounts {
    std::int64_t all;
    std::int64_t skipped;
  };
  StepCounts optimizer_steps() const;

  Optimizer& optimizer_;
  bool count_skipped_steps_ = false;
  StepCounts seen_;  // at the last step(), or loaded
  std::int64_t last_epoch_ = 0;
  std::vector<double> base_lrs_;
  std::vector<double> last_lr_;
  HookHandle on_load_;
};

struct StepLROptions {
  std::int64_t step_size;
  double gamma = 0.1;
};

/// lr *= gamma every `step_size` epochs, as in Python. Throws std::invalid_argument unless
/// step_size > 0. libtorch's StepLR, in compat/optim.h, begins one step() later.
class EpochStepLR : public LRScheduler {
 public:
  EpochStepLR(Optimizer& optimizer, const StepLROptions& options);
  EpochStepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1)
      : EpochStepLR(optimizer, StepLROptions{step_size, gamma}) {}

 private:
  double next_lr(ParamGroup& group, std::size_t index) override;
  StepLROptions options_;
};
HALFGRAD_PLAIN_NAME(StepLR, EpochStepLR)

struct MultiStepLROptions {
  std::vector<std::int64_t> milestones;
  double gamma = 0.1;
};

/// lr *= gamma in each epoch of `milestones`, once for each time it is listed.
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, MultiStepLROptions options);

 private:
  double next_lr(ParamGroup& group, std::size_t index) override;
  MultiStepLROptions options_;
};

struct ExponentialLROptions {
  double gamma;
};

/// lr *= gamma in every epoch.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, const ExponentialLROptions& options);

 private:
  double next_lr(ParamGroup& group, std::size_t index) override;
  ExponentialLROptions options_;
};

struct CosineAnnealingLROptions {
  std::int64_t T_max;
  double eta_min = 0;
};

/// Cosine annealing (Loshchilov and Hutter 2017, without restarts: after T_max lr rises again).
/// Each lr is computed from the previous one, so that without other schedules
///
///     lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * k / T_max)) / 2
///
/// Throws std::invalid_argument unless T_max > 0.
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, const CosineAnnealingLROptions& options);

 private:
  double next_lr(ParamGroup& group, std::size_t index) override;
  CosineAnnealingLROptions options_;
};

struct LinearLROptions {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;
};

/// base_lr times a factor that changes linearly from start_factor to end_factor over `total_iters`
/// epochs and stays there: a warm-up. Throws std::invalid_argument unless 0 < start_factor <= 1,
/// 0 <= end_factor <= 1 and total_iters > 0.
class LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, const LinearLROptions& options = {});

 private:
  double next_lr(ParamGroup& group, std::size_t index) override;
  LinearLROptions options_;
};

struct ConstantLROptions {
  double factor = 1.0 / 3;
  std::int64_t total_iters = 5;
};

/// Multiplies lr by `factor`, and divides it out again in epoch `total_iters`. If total_iters is 0
/// or negative, the factor stays for ever, except in a later part of a SequentialLR, as in PyTorch.
/// Throws std::invalid_argument unless factor is in [0, 1]. The factor 0 cannot be divided out:
/// step() throws std::runtime_error in epoch `total_iters`.
class ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, const ConstantLROptions& options = {});

 private:
  void take_over() override;
  double next_lr(ParamGroup& group, std::size_t index) override;
  ConstantLROptions options_;
};

/// lr = base_lr * lr_lambda(k), with one function for all groups or one for each.
/// Throws std::invalid_argument for another number of functions.
class LambdaLR : public LRScheduler {
 public:
  using Function = std::function<double(std::int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, const Function& lr_lambda);
  LambdaLR(Optimizer& optimizer, std::vector<Function> lr_lambdas);

 private:
  double next_lr(ParamGroup& group, std::size_t index) override;
  void check_groups() const override;
  std::vector<Function> lr_lambdas_;
};

struct SequentialLROptions {
  std::vector<std::int64_t> milestones;  ///< the epochs in which the next scheduler takes over
};

/// One scheduler after another, each counting its epochs from 0 and starting from the base rates.
/// Throws std::invalid_argument unless there are one more schedulers than milestones, milestones
/// increase, and all schedulers are of `optimizer`.
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               SequentialLROptions options);

  LRSchedulerState state_dict() const override;
  void load_state_dict(const LRSchedulerState& state) override;

 private:
  void advance() override;
  void check_groups() const override;
  double next_lr(ParamGroup& group, std::size_t index) override;
  std::size_t active() const;
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  SequentialLROptions options_;
};

}  // namespace halfgrad::optim
