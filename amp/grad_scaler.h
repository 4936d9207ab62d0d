#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/amp/log/step_log.h>
#include <halfgrad/amp/scale_state.h>
#include <halfgrad/autograd/grad_scale.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::amp {

/// What became of a step. The optimizer's kernels decided on the device; nobody waited.
class StepOutcome {
 public:
  explicit StepOutcome(Array found_inf, std::optional<Tensor> loss = std::nullopt)
      : found_inf_(std::move(found_inf)), loss_(std::move(loss)) {}

  /// True if an inf or a NaN kept the parameters as they were. Waits for the device.
  bool skipped() const { return found_inf_.defined() && found_inf_.item() != 0; }
  /// The closure's result, where there was a closure.
  const std::optional<Tensor>& loss() const { return loss_; }

 private:
  Array found_inf_;
  std::optional<Tensor> loss_;
};

struct GradScalerCounts {
  std::int64_t steps = 0;  ///< executed
  std::int64_t skipped_steps = 0;
  std::int64_t growths = 0;
  std::int64_t backoffs = 0;
};

/// PyTorch's keys: "scale", "growth_factor", "backoff_factor", "growth_interval" and
/// "_growth_tracker"; "_bad_steps" too where hysteresis is more than 1, "_next_scale" where the
/// rule is one step late.
using GradScalerState = std::map<std::string, double>;

/// Keeps fp16 gradients in range: multiplies the loss, and so every gradient, by a scale as large
/// as fits; divides it out before the update; skips the update when something overflowed.
///
///   scaler.scale(loss).backward();
///   scaler.unscale_(optimizer);                  // only to look at gradients, or to clip them
///   scaler.step(optimizer);                      // the update, unless a gradient is inf or NaN
///   scaler.update();                             // the scale backs off, or grows after a while
///
/// Names and arithmetic are those of torch.amp.GradScaler. Several optimizers may share a scaler:
/// step() each, then update() once; a bad gradient skips its optimizer's step alone and the scale
/// backs off once. The verdict is that of the gradients when they were first checked, by unscale_()
/// or else step(); what is done to them afterwards is not looked at.
///
/// float16 gradients need a parameter with MasterWeights: unscale_() and step() both refuse others,
/// as PyTorch does, before anything is changed. Divided by the scale in float16, small gradients
/// would vanish again, and a float16 weight without a master loses small updates. bfloat16, float32
/// and float64 gradients are taken.
///
/// Gradients of a loss that no scaler scaled are divided by the scale like others, since the user
/// may have multiplied by get_scale(): the first time, unscale_() or step() warns.
///
/// The scale is made on the device of the first loss; further losses and gradients may lie on
/// others. scale(), unscale_(), step() and update() never wait for the device, except where some of
/// scale, losses and gradients lie on the CPU and others on a GPU. Calls out of order throw
/// std::runtime_error and change nothing.
class GradScaler {
 public:
  /// Throws std::invalid_argument naming an option that is out of range, unless disabled.
  explicit GradScaler(const GradScalerOptions& options = {});
  GradScaler(GradScaler&&) = default;
  GradScaler& operator=(GradScaler&&) = default;

  /// outputs * scale, differentiable, in the type that multiplication by a 0-dim float32 tensor
  /// gives: a 0-dim float16 loss becomes float32, a float16 vector stays float16 and may overflow.
  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// Divides the optimizer's gradients by the scale, in place. Once an iteration, before step().
  /// Without any gradient it does nothing. Throws std::invalid_argument for float16 gradients of
  /// parameters without MasterWeights, before any is changed. After an exception it may be called
  /// again.
  void unscale_(optim::Optimizer& optimizer);

  /// The optimizer's update, with unscaled gradients; it does nothing where a gradient was inf or
  /// NaN. Afterwards the gradients are unscaled, or as they were if the step was skipped.
  /// Throws std::invalid_argument as unscale_(), and std::runtime_error where no parameter has a
  /// gradient, for a closure (a closure needs a disabled scaler), and for an optimizer that an
  /// AsyncOptimizer owns, outside its step functions. An exception that comes before the
  /// optimizer's update begins, as from a pre-step hook, leaves the scaler as it was: step() may be
  /// called again.
  StepOutcome step(optim::Optimizer& optimizer, const std::function<Tensor()>& closure = nullptr);

  /// Ends the iteration: grows or backs off the scale by what was found in it.
  void update();
  /// Ends the iteration with this scale. The growth tracker stays.
  void update(double new_scale);
  /// The same from a tensor of one element on the scale's device type, copied. Its value is checked
  /// on the CPU only, where looking costs nothing.
  void update(const Tensor& new_scale);

  /// Ends an iteration that an exception broke off: what was found in it is forgotten, the scale
  /// stays. Its gradients are the caller's to drop.
  void abandon() { records_.clear(); }

  /// 1 if disabled. Waits for the device, as counts(), reports(), get_growth_tracker() and
  /// state_dict() do.
  double get_scale() const;
  /// Good steps in a row since a bad one or the last growth; update(new_scale) leaves it.
  std::int32_t get_growth_tracker() const;
  GradScalerCounts counts() const;
  /// The last options.history steps, oldest first: see StepReport. Empty without a history.
  std::vector<StepReport> reports() const;

  double get_growth_factor() const { return options_.growth_factor; }
  double get_backoff_factor() const { return options_.backoff_factor; }
  std::int32_t get_growth_interval() const { return options_.growth_interval; }
  /// Throw std::invalid_argument for what the constructor would refuse.
  void set_growth_factor(double growth_factor);
  void set_backoff_factor(double backoff_factor);
  void set_growth_interval(std::int32_t growth_interval);
  bool is_enabled() const { return options_.enabled; }

  /// Empty if disabled. To be taken after update().
  GradScalerState state_dict() const;
  /// Keys it does not know are ignored. Throws std::runtime_error for an empty state (a disabled
  /// scaler's) and std::invalid_argument for missing keys or bad values; then nothing has changed.
  void load_state_dict(const GradScalerState& state);

  /// What state_dict() leaves out, for checkpoints: "counters" and, with a history, "log". A copy,
  /// to be taken after update(); empty before the first scale().
  std::map<std::string, Array> records() const;
  /// Goes on counting and logging from these. Throws std::invalid_argument for what records() of a
  /// scaler with these options does not give; then nothing has changed.
  void load_records(const std::map<std::string, Array>& records);

 private:
  friend class AsyncGradScaler;  // this scaler, on another thread

  // An optimizer whose gradients were checked, by unscale_() or by step().
  struct Record {
    const optim::Optimizer* optimizer;
    detail::StepEntry entry;
  };

  void initialize(Device device);
  static void copy_records(const std::map<std::string, Array>& records,
                           const detail::ScaleState& state, const detail::StepLog& log);
  void require_scale(const char* method) const;
  Record* record_of(const optim::Optimizer& optimizer);  // null: not checked yet
  Record make_record(const optim::Optimizer& optimizer) const;
  Array check_step(const optim::Optimizer& optimizer, const std::vector<Tensor>& gradients,
                   bool unscaled);
  void take_back_step(const optim::Optimizer& optimizer, bool unscaled);
  template <class F>
  void end_iteration(const F& change);
  void update_after(const std::function<void()>& change);
  detail::Check check() const;
  LossScale loss_scale() const;
  void set_options(const GradScalerOptions& options, const char* method);

  GradScalerOptions options_;
  // Before the device of the first loss is known:
  LossScale first_;
  std::map<std::string, Array> first_records_;
  detail::ScaleState state_;
  detail::StepLog log_;
  detail::ScaleId scale_id_ = detail::new_scale_id();
  std::vector<Record> records_;  // of this iteration
  bool warned_of_unscaled_loss_ = false;
};

}  // namespace halfgrad::amp
