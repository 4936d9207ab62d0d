#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/amp/log/step_log.h>
#include <halfgrad/amp/scale_state.h>
#include <halfgrad/amp/unscale.h>
#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {
class UnscalePass;
struct StepParts;
}  // namespace halfgrad::detail

namespace halfgrad::amp {

/// The result of GradScaler::step(). The optimizer's kernels decided on the device, and the host
/// did not wait for them.
class StepOutcome {
 public:
  explicit StepOutcome(Array found_inf, std::optional<Tensor> loss = std::nullopt,
                       Tensor total_norm = {})
      : found_inf_(std::move(found_inf)),
        loss_(std::move(loss)),
        total_norm_(std::move(total_norm)) {}

  /// True if an inf or a NaN kept the parameters as they were. Waits for the device.
  bool skipped() const { return found_inf_.defined() && found_inf_.item() != 0; }
  /// float32, 0-dim, on the device: 0 unless the step was skipped. Undefined if the scaler is
  /// disabled.
  const Array& found_inf() const { return found_inf_; }
  /// The closure's result, if there was a closure.
  const std::optional<Tensor>& loss() const { return loss_; }
  /// The norm of the unscaled gradients before clipping, 0-dim, if step_and_update() clipped them;
  /// else undefined.
  const Tensor& total_norm() const { return total_norm_; }

 private:
  Array found_inf_;
  std::optional<Tensor> loss_;
  Tensor total_norm_;
};

/// Options of GradScaler::step_and_update().
struct StepOptions {
  std::optional<double> max_norm = {};  ///< clips the gradients to this 2-norm
};

/// Numbers of events since the scaler was made. load_records() continues those of a checkpoint.
struct GradScalerCounts {
  std::int64_t steps = 0;  ///< executed
  std::int64_t skipped_steps = 0;
  std::int64_t growths = 0;
  std::int64_t backoffs = 0;
};

/// PyTorch's keys: "scale", "growth_factor", "backoff_factor", "growth_interval" and
/// "_growth_tracker". Adds "_bad_steps" if hysteresis is more than 1, and "_next_scale" if the rule
/// is one step late.
using GradScalerState = std::map<std::string, double>;

/// Keeps fp16 gradients in range. Multiplies the loss, and so every gradient, by a scale that is as
/// large as fits. Divides the gradients by it before the update, and skips the update if one of
/// them overflowed.
///
///   scaler.scale(loss).backward();
///   scaler.unscale_(optimizer);                  // only to look at gradients, or to clip them
///   scaler.step(optimizer);                      // the update, unless a gradient is inf or NaN
///   scaler.update();                             // the scale backs off, or grows after a while
///
/// Names and arithmetic are those of torch.amp.GradScaler. Several optimizers may share a scaler:
/// call step() for each, then update() once. A bad gradient skips its optimizer's step alone, and
/// the scale backs off once. Gradients are checked once, by unscale_() or else by step(); later
/// changes of them are not noticed.
///
/// float16 gradients need a parameter with MasterWeights: unscale_() and step() refuse others, as
/// PyTorch does, before anything is changed. Divided by the scale in float16, small gradients would
/// vanish again, and a float16 weight without a master loses small updates. bfloat16, float32 and
/// float64 gradients are accepted.
///
/// Gradients of a loss that no scaler scaled are divided by the scale like others, since the user
/// may have multiplied by get_scale(): the first time, unscale_() or step() warns.
///
/// The scale is made on the device of the first loss; further losses and gradients may be on
/// others. scale(), unscale_(), step() and update() never wait for the device. The only exception:
/// some of scale, losses and gradients are on the CPU and others on a GPU. Calls out of order throw
/// std::runtime_error and change nothing.
class GradScaler {
 public:
  /// Throws std::invalid_argument naming an option that is out of range, unless disabled.
  explicit GradScaler(const GradScalerOptions& options = {});
  GradScaler(GradScaler&&) = default;
  GradScaler& operator=(GradScaler&&) = default;

  /// Returns outputs * scale, differentiable, in the dtype of a product with a 0-dim float32
  /// tensor: a 0-dim float16 loss becomes float32; a float16 vector stays float16 and may overflow.
  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// Divides the optimizer's gradients by the scale, in place. Call it once an iteration, before
  /// step(). Gradients that nothing has read (autograd/graph/narrow_gradient.h) are divided when
  /// something reads them, or by step(). Without any gradient it does nothing. Throws
  /// std::invalid_argument for float16 gradients of parameters without MasterWeights, before any is
  /// changed. After an exception it may be called again.
  void unscale_(optim::Optimizer& optimizer);

  /// Makes the optimizer's update with unscaled gradients, or none if a gradient was inf or NaN.
  /// Afterwards the gradients are unscaled, or as they were if the step was skipped.
  ///
  /// Throws std::invalid_argument as unscale_(). Throws std::runtime_error if no parameter has a
  /// gradient, for a closure (which needs a disabled scaler), and for an optimizer of an
  /// AsyncOptimizer outside its step functions. After an exception from before the optimizer's
  /// update, as from a pre-step hook, the scaler is as it was: step() may be called again.
  StepOutcome step(optim::Optimizer& optimizer, const std::function<Tensor()>& closure = nullptr);

  /// Ends an iteration of one optimizer:
  ///
  ///   unscale_(optimizer);                                             // unless called before
  ///   clip_grad_norm_(optimizer.parameters(), *options.max_norm);      // if there is a max_norm
  ///   step(optimizer);
  ///   update();
  ///
  /// in two passes over the gradients, and on a GPU in two launches. Parameters, state and scale
  /// get the same bits. So do the gradients, except after a skipped step, when they may keep their
  /// scale. Throws what these calls throw, and std::invalid_argument if max_norm is NaN.
  ///
  /// The two passes have conditions. Parameters and gradients are float32, contiguous and on the
  /// scale's device. On a GPU there are at most 533 parameters, as many as fit into one launch.
  /// There is no history, no check_after_unscale, no pre-step hook, and no other optimizer in the
  /// iteration. Otherwise the calls above are made one by one.
  ///
  /// If nothing has read a gradient, the four calls take the same two passes, and update() launches
  /// a third kernel, of one thread. The optimizer's pass also writes a 16-bit copy of each weight
  /// that autocast has cast, so that the next region casts nothing. Autocast uses the copy until
  /// something else writes the weight, such as an op in place, Array::copy_ or fill_. It never uses
  /// a copy again once data_ptr(), accessor(), DLPack or NumPy has handed out the address. A write
  /// through the address that array().data() returns is not noticed: call
  /// array().storage()->bump_version() after it.
  StepOutcome step_and_update(optim::Optimizer& optimizer, const StepOptions& options = {});

  /// Ends the iteration: grows the scale, or backs it off if an inf or a NaN was found.
  void update();
  /// Ends the iteration with this scale. The growth tracker keeps its value.
  void update(double new_scale);
  /// Ends the iteration with a copy of a tensor of one element on the scale's device type. Its
  /// value is checked on the CPU only: reading it from a GPU would wait.
  void update(const Tensor& new_scale);

  /// Ends an iteration that an exception broke off: forgets what it found, keeps the scale. The
  /// caller has to drop its gradients.
  void abandon();

  /// The scale; 1 if disabled. Waits for the device, as do counts(), reports(),
  /// get_growth_tracker() and state_dict().
  double get_scale() const;
  /// Good steps in a row since a bad one or the last growth; update(new_scale) keeps it.
  std::int32_t get_growth_tracker() const;
  GradScalerCounts counts() const;
  /// The last options.history steps, oldest first: see StepReport. Empty without a history.
  std::vector<StepReport> reports() const;

  double get_growth_factor() const { return options_.growth_factor; }
  double get_backoff_factor() const { return options_.backoff_factor; }
  std::int32_t get_growth_interval() const { return options_.growth_interval; }
  /// Throw std::invalid_argument for values that the constructor would refuse.
  void set_growth_factor(double growth_factor);
  void set_backoff_factor(double backoff_factor);
  void set_growth_interval(std::int32_t growth_interval);
  bool is_enabled() const { return options_.enabled; }

  /// Empty if disabled. Call it after update().
  GradScalerState state_dict() const;
  /// Ignores keys it does not know. Throws std::runtime_error for an empty state (a disabled
  /// scaler's) and std::invalid_argument for missing keys or bad values; then nothing has changed.
  void load_state_dict(const GradScalerState& state);

  /// A copy of what state_dict() leaves out, for checkpoints: "counters" and, with a history,
  /// "log". Call it after update(); empty before the first scale().
  std::map<std::string, Array> records() const;
  /// Continues counting and logging from these. With another history the newest reports that fit
  /// are kept, and without one none. Throws std::invalid_argument for anything that records() of no
  /// scaler returns, such as an event that does not exist; then nothing has changed. A log of an
  /// older release, without losses, is accepted.
  void load_records(const std::map<std::string, Array>& saved);
  /// Throws what load_records() would throw, and changes nothing.
  void check_records(const std::map<std::string, Array>& saved) const;

  /// For training on several ranks, as dist::synchronize() does: `reduce` gets each found_inf
  /// (float32, 0-dim) after the gradients were checked and before a step reads it, and replaces it
  /// by the maximum over ranks. unscale_() and step() then take their general path, not two passes.
  void set_found_inf_reduction(std::function<void(const Array& found_inf)> reduce) {
    reduce_found_inf_ = std::move(reduce);
  }

  /// For wrappers that choose the scale of a loss, as AsyncGradScaler does. Losses are multiplied
  /// and gradients divided by `scale` until update(). That call starts from the scale that the last
  /// update() made.
  void set_scale(double scale);
  /// Does the same for gradients that carry the scale id `id`.
  void set_scale(double scale, detail::ScaleId id);
  /// Throws std::runtime_error, beginning with `method`, before the first scale() of a tensor.
  void expect_scaled_loss(const char* method) const;

 private:
  // Progress of an optimizer in the iteration. An optimizer without an OptState is `ready`.
  enum class Stage : std::uint8_t { ready, unscaled, stepped };
  struct OptState {
    const optim::Optimizer* optimizer;
    Stage stage;
    detail::StepEntry entry;
    std::shared_ptr<detail::UnscalePass> pass{};  // deferred by unscale_(), else null
  };

  // Gradients that two passes accept: all contiguous float32 ones, or narrow ones.
  enum class Accepted : std::uint8_t { all, narrow };

  void initialize(Device device);
  std::map<std::string, Array> fitting(const std::map<std::string, Array>& saved) const;
  static void copy_records(const std::map<std::string, Array>& records,
                           const detail::ScaleState& state, const detail::StepLog& log);
  OptState* find_state(const optim::Optimizer& optimizer);
  Stage stage_of(const optim::Optimizer& optimizer);
  detail::StepEntry new_entry(const optim::Optimizer& optimizer) const;
  Array begin_step(const optim::Optimizer& optimizer, const std::vector<Tensor>& gradients,
                   Stage stage);
  bool may_defer() const;
  bool finish_unscale(optim::Optimizer& optimizer, const std::vector<Tensor>& gradients,
                      detail::UnscalePass& pass);
  bool takes_two_passes(const optim::Optimizer& optimizer, Accepted accepted) const;
  std::optional<StepOutcome> step_in_two_passes(optim::Optimizer& optimizer,
                                                const std::vector<Tensor>& gradients,
                                                const detail::StepParts& parts);
  void undo_step(const optim::Optimizer& optimizer, Stage stage);
  template <class F>
  void end_iteration(const F& change);
  detail::Check check() const;
  LossScale loss_scale() const;
  void set_options(const GradScalerOptions& options, const char* method);

  GradScalerOptions options_;
  // Used until the device of the first loss is known.
  LossScale first_;
  std::map<std::string, Array> first_records_;
  detail::ScaleState state_;
  detail::StepLog log_;
  detail::ScaleId scale_id_ = detail::new_scale_id();
  std::vector<OptState> opt_states_;  // optimizers of this iteration
  bool warned_of_unscaled_loss_ = false;
  std::function<void(const Array&)> reduce_found_inf_;  // null: one rank
};

}  // namespace halfgrad::amp
