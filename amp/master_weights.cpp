#include <halfgrad/amp/master_weights.h>

#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/loaded_state.h>

namespace halfgrad::amp {
namespace {

// Calls f(param, its state) for each 16-bit parameter.
template <class F>
void for_each_narrow(optim::Optimizer& optimizer, const F& f) {
  for (const optim::ParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params) {
      if (is_reduced(param.dtype())) f(param, optimizer.state(param));
    }
  }
}

}  // namespace

MasterWeights::MasterWeights(optim::Optimizer& optimizer) : optimizer_(optimizer) {
  bool any = false;
  for_each_narrow(optimizer, [&](const Tensor&, const optim::ParamState& state) {
    any = true;
    if (state.empty()) return;
    detail::fail("MasterWeights",
                 "expected an optimizer that has made no update, got state \"{}\" in {}",
                 state.begin()->first, optimizer.name());
  });
  if (!any) {
    detail::fail("MasterWeights", "expected float16 or bfloat16 parameters, got none");
  }
  for_each_narrow(optimizer, [](const Tensor& param, optim::ParamState& state) {
    detail::add_master(state, param);
  });
}

const Array& MasterWeights::master(const Tensor& param) const {
  const optim::ParamState& state = std::as_const(optimizer_).state(param);
  const auto found = state.find(detail::kMaster);
  if (found == state.end()) {
    detail::fail("master", "expected a 16-bit parameter of the optimizer, got {} of shape {}",
                 param.dtype(), param.sizes());
  }
  return found->second;
}

void MasterWeights::copy_from_parameters() {
  for_each_narrow(optimizer_, [](const Tensor& param, optim::ParamState& state) {
    const auto found = state.find(detail::kMaster);
    if (found != state.end()) found->second.copy_(param.array());
  });
}

std::int64_t MasterWeights::overflows() const {
  double count = 0;
  for_each_narrow(optimizer_, [&](const Tensor&, optim::ParamState& state) {
    const auto found = state.find(detail::kOverflows);
    if (found != state.end()) count += found->second.item();
  });
  return static_cast<std::int64_t>(count);
}

}  // namespace halfgrad::amp
