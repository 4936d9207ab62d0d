#include <halfgrad/optim/optimizer.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/optim/count_step.h>
#include <halfgrad/optim/late_updates.h>
#include <halfgrad/optim/loaded_state.h>
#include <halfgrad/optim/local_control.h>
#include <halfgrad/optim/norm_pass.h>
#include <halfgrad/optim/shared_gradients.h>

namespace halfgrad::optim {
namespace {

// Only step(StepControl) gets the scale, and can divide by it.
void refuse_scaled(const std::vector<Tensor>& params) {
  for (const Tensor& param : params) {
    const Tensor grad = param.grad();
    if (!grad.defined()) continue;
    detail::expect_unscaled(std::span(&grad, 1), "step", "call scaler.step(optimizer)");
  }
}

// Updates of integers would be truncated.
void refuse_integers(const std::string& optimizer, const std::vector<Tensor>& params) {
  for (const Tensor& param : params) {
    if (param.is_floating_point() || !param.grad().defined()) continue;
    detail::fail(optimizer, "expected gradients of floating-point parameters, got one of {}",
                 param.dtype());
  }
}

ParamGroup part_on(Device device, const ParamGroup& group) {
  ParamGroup part = group;
  std::erase_if(part.params, [device](const Tensor& param) { return param.device() != device; });
  return part;
}

}  // namespace

void Optimizer::expect_step_allowed(const char* method) const {
  if (step_guard_) step_guard_(method);
}

// Kernels index gradient and state as they index the parameter.
void Optimizer::expect_sizes(const char* method) const {
  for (const ParamGroup& group : param_groups_) {
    for (const Tensor& param : group.params) {
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      const Shape& sizes = param.sizes();
      if (detail::gradient_sizes(grad) != sizes) {
        detail::fail(method,
                     "expected gradients of their parameters' shapes, got one of {} for a "
                     "parameter of {}; call zero_grad() when the shape of a parameter changes",
                     detail::gradient_sizes(grad), sizes);
      }
      for (const auto& [entry, array] : state(param)) {
        // Undefined: making it has failed, and the step tries again.
        if (array.sizes() == sizes || !array.defined()) continue;
        if (entry == "step" || entry == detail::kOverflows) continue;
        if (detail::sizes_of(entry, state_entries(group)) != StateEntry::Sizes::of_parameter) {
          continue;
        }
        detail::fail(method,
                     "expected {} of shape {}, as the parameter, in the state of {}, got {}; make "
                     "a new optimizer when the shape of a parameter changes",
                     entry, sizes, name_, array.sizes());
      }
    }
  }
}

Tensor Optimizer::step(LossClosure closure) {  // NOLINT(performance-unnecessary-value-param)
  expect_step_allowed("step");
  run_hooks(*pre_hooks_);
  const NoGradGuard no_grad;
  const std::optional<Tensor> loss = run_step(closure);
  run_hooks(*post_hooks_);
  return loss.value_or(Tensor());
}

std::optional<Tensor> Optimizer::run_step(const std::function<Tensor()>& closure) {
  std::optional<Tensor> loss;
  if (closure) {
    const EnableGradGuard enable_grad;
    loss = closure();
  }
  refuse_scaled(parameters());
  expect_sizes("step");
  update_groups(control_of_gradients());
  return loss;
}

void Optimizer::step(const StepControl& control) {
  expect_step_allowed("step");
  run_hooks(*pre_hooks_);
  const NoGradGuard no_grad;
  if (!control.counted_on) expect_sizes("step");  // prepare_counted_step() came after a check
  if (has_own_options()) {
    step_own(control);
  } else {
    update_groups(detail::unscale_shared_gradients(parameters(), control));
  }
  run_hooks(*post_hooks_);
}

bool Optimizer::add_step_counts(const ParamGroup&, const detail::GroupOptions*,
                                std::vector<detail::StepCount>&, Array&) {
  return false;
}

bool Optimizer::prepare_counted_step(Device device, std::vector<detail::StepCount>& counts) {
  if (!pre_hooks_->empty() || !prepare_counts(device, counts)) return false;
  keep_skipped_steps_on(device);
  return true;
}

bool Optimizer::prepare_counts(Device device, std::vector<detail::StepCount>& counts) {
  if (has_own_options()) return false;
  options_.resize(param_groups_.size());
  Graph::before_replay([this] { send_options(); });
  corrections_.assign(param_groups_.size(), Array());
  for (std::size_t i = 0; i < param_groups_.size(); ++i) {
    if (param_groups_[i].params.empty()) continue;
    const detail::GroupOptions* const options = options_[i].data(device);
    if (!add_step_counts(param_groups_[i], options, counts, corrections_[i])) return false;
  }
  return true;
}

// The control of a step without a GradScaler. If the pass of clip_grad_norm_() has not run, it
// counts the step.
StepControl Optimizer::control_of_gradients() {
  std::vector<Tensor> gradients;
  for (const Tensor& param : parameters()) {
    if (param.grad().defined()) gradients.push_back(param.grad());
  }
  const auto pass = std::dynamic_pointer_cast<detail::NormPass>(detail::pending_pass_of(gradients));
  if (pass == nullptr || pass->has_run()) return {};
  const Device device = pass->factors().device();
  std::vector<detail::StepCount> counts;
  if (!prepare_counts(device, counts) || !pass->run_and_count(counts)) return {};
  return {.counted_on = device};
}

void Optimizer::keep_skipped_steps_on(Device device) {
  skipped_steps_ =
      skipped_steps_.defined() ? skipped_steps_.to(device) : Array::full({}, 0, kLong, device);
}

void Optimizer::update_groups(const StepControl& control) {
  const std::vector<Tensor> params = parameters();
  refuse_integers(name_, params);
  for (const Device device :
       late_ != nullptr ? detail::devices_of(params) : std::vector<Device>()) {
    detail::join_late_work(current_stream(device));  // updates of the step before
  }
  ++steps_;
  if (control.found_inf != nullptr && !control.counted_on) {
    keep_skipped_steps_on(control.found_inf->device());
    detail::count_step(*control.found_inf, skipped_steps_);
  }
  options_.resize(param_groups_.size());
  if (!control.counted_on) Graph::before_replay([this] { send_options(); });
  for (std::size_t i = 0; i < param_groups_.size(); ++i) {
    StepControl of_group = control;
    if (control.counted_on) of_group.corrections = &corrections_[i];
    update_group(param_groups_[i], options_[i], of_group);
  }
}

void Optimizer::update_group(const ParamGroup& group, const detail::DeviceOptions& options,
                             const StepControl& control) {
  const std::vector<Device> devices = detail::devices_of(group.params);
  for (const Device device : devices) {
    if (control.counted_on) {
      if (device != *control.counted_on) continue;
      update(group, options.data(device), with_late(options, device, control));
      continue;
    }
    const detail::LocalControl there(device, control);
    const StepControl local = with_late(options, device, there.control());
    if (devices.size() == 1) {
      update(group, options.data(device), local);
    } else {
      update(part_on(device, group), options.data(device), local);
    }
  }
}

// Adds the late updates to the control, and tells them which arrays the kernels read. The arrays of
// a counted step's control were made for this step, so nothing overwrites them.
StepControl Optimizer::with_late(const detail::DeviceOptions& options, Device device,
                                 StepControl control) const {
  control.late = late_.get();
  if (late_ == nullptr) return control;
  std::vector<Array> arrays, others{options.array(device)};
  for (const Array* const array :
       {control.inv_scale, control.found_inf, control.clip, control.factors}) {
    if (array != nullptr) (control.counted_on ? arrays : others).push_back(*array);
  }
  late_->begin(std::move(arrays), std::move(others));
  return control;
}

void Optimizer::send_options() {
  for (std::size_t i = 0; i < param_groups_.size(); ++i) options_[i].send(param_groups_[i]);
}

}  // namespace halfgrad::optim
