#include <halfgrad/optim/optimizer.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/grad_scale.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/optim/count_skipped.h>

namespace halfgrad::optim {
namespace {

// Only a step that is given the scale can divide by it.
void refuse_scaled(const std::vector<ParamGroup>& groups) {
  for (const ParamGroup& group : groups) {
    for (const Tensor& param : group.params) {
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      detail::expect_unscaled(std::span(&grad, 1), "step", "call scaler.step(optimizer)");
    }
  }
}

// Their updates would be cut to whole numbers.
void refuse_integers(const std::string& optimizer, const std::vector<ParamGroup>& groups) {
  for (const ParamGroup& group : groups) {
    for (const Tensor& param : group.params) {
      if (param.is_floating_point() || !param.grad().defined()) continue;
      throw std::invalid_argument(optimizer +
                                  ": expected gradients of floating-point parameters, got one of " +
                                  std::string(halfgrad::name(param.dtype())));
    }
  }
}

Array on(Device device, const Array* array) {
  return array != nullptr ? array->to(device) : Array();
}

const Array* if_defined(const Array& array) { return array.defined() ? &array : nullptr; }

ParamGroup part_on(Device device, const ParamGroup& group) {
  ParamGroup part = group;
  std::erase_if(part.params, [device](const Tensor& param) { return param.device() != device; });
  return part;
}

}  // namespace

std::optional<Tensor> Optimizer::step(const std::function<Tensor()>& closure) {
  run_hooks(*pre_hooks_);
  const NoGradGuard no_grad;
  std::optional<Tensor> loss;
  if (closure) {
    const EnableGradGuard enable_grad;
    loss = closure();
  }
  refuse_scaled(groups_);
  update_groups({});
  run_hooks(*post_hooks_);
  return loss;
}

void Optimizer::step(const StepControl& control) {
  run_hooks(*pre_hooks_);
  const NoGradGuard no_grad;
  update_groups(control);
  run_hooks(*post_hooks_);
}

void Optimizer::update_groups(const StepControl& control) {
  refuse_integers(name_, groups_);
  ++steps_;
  if (control.found_inf != nullptr) {
    const Device device = control.found_inf->device();
    skipped_steps_ =
        skipped_steps_.defined() ? skipped_steps_.to(device) : Array::full({}, 0, kLong, device);
    detail::count_skipped(skipped_steps_, *control.found_inf);
  }
  options_.resize(groups_.size());
  Graph::before_replay([this] { send_options(); });
  for (std::size_t i = 0; i < groups_.size(); ++i) update_group(groups_[i], options_[i], control);
}

void Optimizer::update_group(const ParamGroup& group, const detail::DeviceOptions& options,
                             const StepControl& control) {
  const std::vector<Device> devices = detail::devices_of(group);
  for (const Device device : devices) {
    const Array inv_scale = on(device, control.inv_scale);
    const Array found_inf = on(device, control.found_inf);
    const StepControl there{if_defined(inv_scale), if_defined(found_inf)};
    if (devices.size() == 1) {
      update(group, options.data(device), there);
    } else {
      update(part_on(device, group), options.data(device), there);
    }
  }
}

void Optimizer::send_options() {
  for (std::size_t i = 0; i < groups_.size(); ++i) options_[i].send(groups_[i]);
}

}  // namespace halfgrad::optim
