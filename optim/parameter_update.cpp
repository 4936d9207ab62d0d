#include <halfgrad/optim/parameter_update.h>

namespace halfgrad::detail {
namespace {

struct AddOne {
  static constexpr unsigned kWrites = 1;

  HG_HD AddOne make() const { return *this; }

  template <class T>
  HG_HD void operator()(T& count) const {
    count = count + T(1);
  }
};

}  // namespace

void count_steps(const std::vector<const Array*>& steps, const optim::StepControl& control) {
  std::vector<TensorUpdate<AddOne, 1>> updates;
  updates.reserve(steps.size());
  for (const Array* step : steps) updates.push_back({{}, {step}});
  multi_tensor(updates, skip_flag(control));
}

const Array& step_count(optim::ParamState& state, const Tensor& param) {
  Array& step = state["step"];
  if (!step.defined()) step = Array::full({}, 0, DType::f32, param.device());
  return step;
}

const Array& moment(optim::ParamState& state, const char* name, const Tensor& param) {
  Array& array = state[name];
  if (!array.defined()) array = Array::full(param.sizes(), 0, param.dtype(), param.device());
  return array;
}

}  // namespace halfgrad::detail
