#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

#include <halfgrad/optim/parameter_update.h>

namespace halfgrad::detail {

/// The first pass of an optimizer whose update needs a whole tensor, such as its norm: a formula
/// f(parameter, gradient, state...) that reads the parameter, or its master, and writes the state
/// alone. Like ParameterUpdates it unscales and clips the gradients, and reads narrow ones as the
/// backward pass left them. The pass after it needs a control without factors.
template <class Update, std::size_t kStates>
class StateUpdates {
 public:
  explicit StateUpdates(const optim::StepControl& control) : control_(control) {}

  void add(const Tensor& param, const Array& parameter, const Update& update,
           const std::array<const Array*, kStates>& states) {
    const Tensor grad = param.grad();
    const auto [elements, factors] = operands_to_read(grad, control_);
    const bool is_narrow =
        elements != nullptr && (elements->dtype() != kFloat || factors != nullptr);
    const Array* const gradient = is_narrow ? elements : &grad.array();
    const float* const inv_scale = float_in(factors);
    const float* const clip = factors != nullptr ? inv_scale + 1 : nullptr;
    std::apply(
        [&](const auto*... state) {
          if (!is_narrow) return plain_.push_back({update, {&parameter, gradient, state...}});
          narrow_.push_back({{update, inv_scale, clip}, {&parameter, gradient, state...}});
          narrow_params_.push_back(param);
        },
        states);
  }

  void run() const {
    update_parameters(plain_, {}, control_);
    multi_tensor(narrow_, skip_flag(control_));
    if (control_.clip == nullptr) return;
    for (const Tensor& param : narrow_params_) set_factors(param.grad(), *control_.factors);
  }

 private:
  const optim::StepControl& control_;
  std::vector<TensorUpdate<Update, kStates + 2>> plain_;
  std::vector<TensorUpdate<Scaled<Update, false>, kStates + 2>> narrow_;
  std::vector<Tensor> narrow_params_;
};

}  // namespace halfgrad::detail
