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
/// Gradients are divided by the scale that multiplied their loss, which travels with them. Let s(k)
/// be the scale of iteration k's loss, inf(k) its found_inf and u one update of a GradScaler. If
/// every update is synchronous, as in PyTorch,
///
///     s(k+1) = u(s(k), inf(k))
///
/// and if every update is asynchronous (RoundPipe's recurrence)
///
///     s(0) = s(1) = init_scale
///     s(k+2) = u(s(k+1), inf(k))
///
/// The update uses the found_inf of the previous step, so a change reaches the loss one step late:
/// a scale that starts too high costs one more skipped step and ends one back-off lower. The scales
/// do not depend on how fast the update thread runs.
///
/// Call it on the thread that calls the optimizer, or in step functions if the function's comment
/// allows that. Exceptions on the update thread reach the caller as those of an AsyncOptimizer. A
/// disabled scaler only runs the optimizer's steps there.
class AsyncGradScaler {
 public:
  /// Like GradScaler's constructor. `optimizer` must outlive this object.
  explicit AsyncGradScaler(optim::AsyncOptimizer& optimizer, const GradScalerOptions& options = {});
  /// Waits for the update thread to finish its jobs.
  ~AsyncGradScaler();
  AsyncGradScaler(const AsyncGradScaler&) = delete;
  AsyncGradScaler& operator=(const AsyncGradScaler&) = delete;

  /// Like GradScaler::scale(). Throws std::runtime_error while the model holds gradients of another
  /// scale.
  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// In a step function: like those of GradScaler, for the optimizer that the function receives.
  /// Elsewhere both take the model's gradients, do the same on the update thread and wait: step()
  /// is then a whole synchronous step of the AsyncOptimizer.
  void unscale_(optim::Optimizer& optimizer);
  StepOutcome step(optim::Optimizer& optimizer);

  /// Ends the iteration. Asynchronous: the next loss gets the scale that the previous update made;
  /// waits for that update only. Throws std::runtime_error in a step function.
  void update(bool is_async = true);
  /// Asynchronous: the loss after the next update() is the first to be scaled by `new_scale`.
  void update(double new_scale, bool is_async = true);

  /// Like GradScaler::abandon(), for an iteration that an exception broke off before update(), such
  /// as one from a step function that reaches the caller of a synchronous step().
  void abandon();

  /// The scale of the next loss; in a step function that of its gradients; 1 if disabled. To divide
  /// a scaled loss by it, call it before update(). Never waits.
  double get_scale() const;

  /// The update thread's present value; `up_to_date` first waits until it has finished its jobs.
  double get_growth_factor(bool up_to_date = false) const;
  double get_backoff_factor(bool up_to_date = false) const;
  std::int32_t get_growth_interval(bool up_to_date = false) const;
  /// Take effect for the updates launched from now on, or at once in a step function. Throw
  /// std::invalid_argument for values that the constructor would refuse.
  void set_growth_factor(double growth_factor);
  void set_backoff_factor(double backoff_factor);
  void set_growth_interval(std::int32_t growth_interval);
  bool is_enabled() const { return options_.enabled; }

  /// All functions below wait until the update thread has finished its jobs.
  std::int32_t get_growth_tracker() const;
  GradScalerCounts counts() const;
  /// Like GradScaler::reports(), without losses. `next_scale` is the scale that the update made: if
  /// asynchronous, that of the loss after the next update().
  std::vector<StepReport> reports() const;
  /// The state of a GradScaler, and "_next_scale", the scale of the loss after the next update(). A
  /// loaded state without it, such as PyTorch's, takes "scale" for it. Call it after update().
  GradScalerState state_dict() const;
  void load_state_dict(const GradScalerState& state);
  /// Like the functions of GradScaler.
  std::map<std::string, Array> records() const;
  void load_records(const std::map<std::string, Array>& records);
  void check_records(const std::map<std::string, Array>& records) const;

 private:
  using Ticket = optim::UpdateThread::Ticket;

  bool in_step_function() const { return optimizer_.thread().is_current(); }
  void complete(bool needed = true) const;
  void use_for_losses(double scale);
  void launch_update(std::optional<double> new_scale, bool is_async);
  void set(const std::function<void(GradScaler&)>& change);
  // These run on the update thread.
  void adopt_scale();
  void run_update(std::optional<double> new_scale, bool is_async);
  void publish_factors();

  optim::AsyncOptimizer& optimizer_;
  const GradScalerOptions options_;  // as constructed
  GradScaler main_;                  // used by the update thread
  GradScaler losses_;                // only multiplies losses
  double scale_;                     // the scale of losses_
  double next_scale_;                // written by the update thread until last_update_ has ended
  Ticket last_update_ = 0;
  std::atomic<double> growth_factor_, backoff_factor_;
  std::atomic<std::int32_t> growth_interval_;
};

}  // namespace halfgrad::amp
