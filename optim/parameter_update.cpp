#include <halfgrad/optim/parameter_update.h>

#include <halfgrad/optim/formula_update.h>

namespace halfgrad::detail {

const Array* elements_to_read(const Tensor& gradient, const optim::StepControl& control) {
  if (control.factors == nullptr) {
    const Array* const elements =
        control.inv_scale == nullptr ? narrow_elements(gradient) : nullptr;
    return elements != nullptr && elements->device().is_cpu() ? elements : nullptr;
  }
  return control.clip != nullptr ? narrow_elements(gradient)
                                 : elements_before(gradient, *control.factors);
}

std::vector<Tensor> params_with_gradient(const optim::ParamGroup& group) {
  std::vector<Tensor> params;
  for (const Tensor& param : group.params) {
    if (param.grad().defined()) params.push_back(param);
  }
  return params;
}

const Array& step_count(optim::ParamState& state, const Tensor& param) {
  Array& step = state["step"];
  if (!step.defined()) step = Array::full({}, 0, DType::f32, param.device());
  return step;
}

const Array& moment(optim::ParamState& state, const char* name, const Tensor& param,
                    double initial) {
  const DType dtype = state.contains(kMaster) ? DType::f32 : param.dtype();
  Array& array = state[name];
  if (!array.defined()) array = Array::full(param.sizes(), initial, dtype, param.device());
  return array;
}

namespace {

struct AddOne {
  static constexpr unsigned kWrites = operands(0);

  HG_HD AddOne make() const { return *this; }

  template <class T>
  HG_HD void operator()(T& count) const {
    count = count + T(1);
  }
};

}  // namespace

void count_steps(const std::vector<const Array*>& steps, const optim::StepControl& control) {
  std::vector<TensorUpdate<AddOne, 1>> counts;
  counts.reserve(steps.size());
  for (const Array* const step : steps) counts.push_back({{}, {step}});
  multi_tensor(counts, skip_flag(control));
}

}  // namespace halfgrad::detail
