#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <halfgrad/core/multi_tensor.h>
#include <halfgrad/optim/optimizer.h>

/// What the optimizers share: a formula f(parameter, gradient, state...) is run over all parameters
/// of a group in one pass, which also unscales the gradients and honours found_inf.
namespace halfgrad::detail {

template <class Formula>
struct UnscaledFormula {
  static constexpr unsigned kGradient = 1U << 1;
  static constexpr unsigned kWrites = Formula::kWrites | kGradient;

  Formula formula;
  float inv_scale;

  template <class T, class... State>
  HG_HD void operator()(T& parameter, T& gradient, State&... state) const {
    gradient = gradient * T(inv_scale);
    formula(parameter, gradient, state...);
  }
};

template <class Update>
struct Unscaled {
  Update update;
  const float* inv_scale;

  HG_HD auto make() const {
    return UnscaledFormula<decltype(update.make())>{update.make(), *inv_scale};
  }
};

inline const float* skip_flag(const optim::StepControl& control) {
  return control.found_inf != nullptr ? control.found_inf->data_as<float>() : nullptr;
}

/// Adds one to each step count, before the updates read them.
void count_steps(const std::vector<const Array*>& steps, const optim::StepControl& control);

template <class Update, std::size_t N>
void update_parameters(const std::vector<TensorUpdate<Update, N>>& updates,
                       const optim::StepControl& control) {
  if (control.inv_scale == nullptr) {
    multi_tensor(updates, skip_flag(control));
  } else {
    std::vector<TensorUpdate<Unscaled<Update>, N>> unscaled;
    unscaled.reserve(updates.size());
    for (const auto& [update, operands] : updates) {
      unscaled.push_back({{update, control.inv_scale->data_as<float>()}, operands});
    }
    multi_tensor(unscaled, skip_flag(control));
    for (const auto& tensor : updates) tensor.operands[1]->storage()->bump_version();
  }
  for (const auto& tensor : updates) tensor.operands[0]->storage()->bump_version();
}

/// The gradient's numbers, or null if there is none.
inline const Array* gradient_of(const Tensor& param) {
  return param.impl()->grad != nullptr ? &param.impl()->grad->array : nullptr;
}

/// The step count in `state`, made with 0 when it is not there yet.
const Array& step_count(optim::ParamState& state, const Tensor& param);

/// The moment of that name, made with zeros when it is not there yet.
const Array& moment(optim::ParamState& state, const char* name, const Tensor& param);

}  // namespace halfgrad::detail
