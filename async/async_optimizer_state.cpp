#include <halfgrad/async/async_optimizer.h>

#include <vector>

#include <halfgrad/core/fail.h>

namespace halfgrad::optim {

AsyncOptimizerState AsyncOptimizer::state_dict() {
  synchronize();
  AsyncOptimizerState state{optimizer_.state_dict(), {}};
  for (const Parameter& parameter : parameters_) {
    const Tensor grad = parameter.host.grad();
    state.parameters.push_back(parameter.host.array().clone());
    state.gradients.push_back(grad.defined() ? grad.array().clone() : Array());
  }
  if (held_scale_) state.gradient_scale = held_scale_->value;
  return state;
}

void AsyncOptimizer::load_state_dict(const AsyncOptimizerState& state) {
  synchronize();
  std::vector<Array> gradients = state.gradients;
  if (gradients.empty()) gradients.resize(parameters_.size());
  bool fits =
      state.parameters.size() == parameters_.size() && gradients.size() == parameters_.size();
  for (std::size_t i = 0; fits && i < parameters_.size(); ++i) {
    const Shape& sizes = parameters_[i].host.sizes();
    fits = state.parameters[i].sizes() == sizes &&
           (!gradients[i].defined() || gradients[i].sizes() == sizes);
  }
  if (!fits) {
    detail::fail("load_state_dict", "expected {} parameters of the model's shapes, got others",
                 parameters_.size());
  }
  optimizer_.load_state_dict(state.optimizer);
  current_stream(device_).synchronize();  // as in copy_from_parameters()
  drop_gradients();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& host = parameters_[i].host;
    host.array().copy_(state.parameters[i]);
    if (!gradients[i].defined()) continue;
    host.set_grad(Tensor(gradients[i].clone().to(host.dtype())));
    held_scale_ = {state.gradient_scale, detail::kUnknownScale};
  }
  round_parameters();
  written_back_ = false;
  write_back();
}

// Parameters of groups that were added in the meantime stay.
void AsyncOptimizer::give_back_parameters() {
  const OptimizerState state = optimizer_.state_dict();
  auto parameter = parameters_.begin();
  for (ParamGroup& group : optimizer_.param_groups()) {
    for (Tensor& param : group.params) {
      if (parameter == parameters_.end() || !param.is_same(parameter->host)) continue;
      param = parameter++->model;
    }
  }
  optimizer_.load_state_dict(state);
}

}  // namespace halfgrad::optim
