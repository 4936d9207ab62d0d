#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/async/async_optimizer.h>

namespace halfgrad::amp {

/// The GradScaler for an AsyncOptimizer:
///
///   scaler.scale(loss).backward();
///   optimizer.step([&](optim::Optimizer& adamw) {    // on the update thread
///     scaler.unscale_(adamw);                        // only to clip gradients
///     scaler.step(adamw);
///   });
///   scaler.update();
///
/// Gradients are unscaled by the scale their loss was multiplied by, which they carry. With s(k)
/// the scale of iteration k's loss, inf(k) its verdict and u one update of a GradScaler,
///
///   s(k+1) = u(s(k), inf(k))                          if every update is synchronous, as PyTorch;
///   s(0) = s(1) = init_scale,  s(k+2) = u(s(k+1), inf(k))   if every update is asynchronous:
///
/// what is updated is the scale that the next loss was already given, so a start too high costs a
/// skipped step more and ends a back-off lower. Neither depends on timing. RoundPipe's recurrence.
///
/// Calls belong to the thread that calls the optimizer, or to its step functions where both are
/// described. What goes wrong on the update thread reaches the caller as an AsyncOptimizer's
/// failures do. Disabled, it gives that thread nothing but the optimizer's steps.
class AsyncGradScaler {
 public:
  /// As GradScaler's. `optimizer` must outlive this object.
  explicit AsyncGradScaler(optim::AsyncOptimizer& optimizer, const GradScalerOptions& options = {});
  /// Completes what was launched.
  ~AsyncGradScaler();
  AsyncGradScaler(const AsyncGradScaler&) = delete;
  AsyncGradScaler& operator=(const AsyncGradScaler&) = delete;

  /// As GradScaler's. Throws std::runtime_error while the model holds gradients of another scale.
  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// In a step function as GradScaler's, for the optimizer that the function is given. Elsewhere
  /// they take the model's gradients, do the same on the update thread and wait: step() is then a
  /// whole synchronous step of the AsyncOptimizer.
  void unscale_(optim::Optimizer& optimizer);
  StepOutcome step(optim::Optimizer& optimizer);

  /// Ends the iteration. Asynchronous: the loss that follows is scaled by what the update before
  /// found; waits for that update only. Throws std::runtime_error in a step function.
  void update(bool is_async = true);
  /// Asynchronous: the loss after the next update() is the first to be scaled by `new_scale`.
  void update(double new_scale, bool is_async = true);

  /// GradScaler's, for an iteration that an exception broke off before update(), as a step
  /// function's that reaches the caller of a synchronous step().
  void abandon();

  /// 1 if disabled; of the next loss, or in a step function of this step's. A loss is to be divided
  /// by it before update(); scale() leaves its argument as it was. Never waits.
  double get_scale() const;

  /// What the update thread has come to; `up_to_date` waits until it has done all it was given.
  double get_growth_factor(bool up_to_date = false) const;
  double get_backoff_factor(bool up_to_date = false) const;
  std::int32_t get_growth_interval(bool up_to_date = false) const;
  /// For the updates launched from now on, or at once in a step function. Throw
  /// std::invalid_argument for what the constructor would refuse.
  void set_growth_factor(double growth_factor);
  void set_backoff_factor(double backoff_factor);
  void set_growth_interval(std::int32_t growth_interval);
  bool is_enabled() const { return options_.enabled; }

  /// All that follow wait until the update thread has done what it was given.
  std::int32_t get_growth_tracker() const;
  GradScalerCounts counts() const;
  /// GradScaler's. `next_scale` is what the update made: of the loss after the next update() where
  /// that is asynchronous.
  std::vector<StepReport> reports() const;
  /// GradScaler's, and "_next_scale": of the loss after the next update(). Where it is missing, as
  /// in PyTorch's, it is the scale. To be taken after update().
  GradScalerState state_dict() const;
  void load_state_dict(const GradScalerState& state);
  /// GradScaler's.
  std::map<std::string, Array> records() const;
  void load_records(const std::map<std::string, Array>& records);

 private:
  using Ticket = optim::UpdateThread::Ticket;

  bool in_step_function() const { return optimizer_.thread().is_current(); }
  void complete(bool needed = true) const;
  void use_for_losses(double scale);
  void launch_update(std::optional<double> new_scale, bool is_async);
  void set(const std::function<void(GradScaler&)>& change);
  // On the update thread.
  void adopt_scale();
  void run_update(std::optional<double> new_scale, bool is_async);
  void publish_factors();

  optim::AsyncOptimizer& optimizer_;
  const GradScalerOptions options_;  // as constructed
  GradScaler main_;                  // the update thread's
  GradScaler losses_;                // multiplies losses, no more
  double scale_;                     // its scale
  double next_scale_;                // the update thread's until it has run last_update_
  Ticket last_update_ = 0;
  std::atomic<double> growth_factor_, backoff_factor_;
  std::atomic<std::int32_t> growth_interval_;
};

}  // namespace halfgrad::amp
