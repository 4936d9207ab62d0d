#include <halfgrad/optim/shared_gradients.h>

#include <halfgrad/optim/group_options.h>
#include <halfgrad/optim/local_control.h>
#include <halfgrad/optim/parameter_update.h>

namespace halfgrad::detail {
namespace {

// Changes no parameter, so that update_parameters() only unscales.
struct NoUpdate {
  static constexpr unsigned kWrites = 0;
  static constexpr unsigned kReads = operands(kGradient);

  HG_HD NoUpdate make() const { return *this; }

  template <class T>
  HG_HD void operator()(T&, T&) const {}
};

}  // namespace

optim::StepControl unscale_shared_gradients(const std::vector<Tensor>& params,
                                            const optim::StepControl& control) {
  if (control.inv_scale == nullptr || control.clip != nullptr) return control;
  std::vector<TensorUpdate<NoUpdate, 2>> updates;
  std::vector<WrittenMemory> gradients;
  for (const Tensor& param : params) {
    if (!param.grad().defined()) continue;
    if (!param.is_floating_point()) return control;  // step() will refuse it
    static_cast<void>(param.grad().array());         // widens a narrow gradient
    const Array& gradient = param.impl()->grad->array;
    add_written(gradients, gradient, updates.size());
    updates.push_back({{}, {&param.array(), &gradient}});
  }
  if (passes_of(std::move(gradients), updates.size()).empty()) return control;
  for (const Device device : devices_of(params)) {
    std::vector<TensorUpdate<NoUpdate, 2>> there;
    for (const auto& update : updates) {
      if (update.operands[0]->device() == device) there.push_back(update);
    }
    update_parameters(there, {}, LocalControl(device, control).control());
  }
  return {.found_inf = control.found_inf};
}

}  // namespace halfgrad::detail
