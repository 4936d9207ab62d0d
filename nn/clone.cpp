#include <algorithm>
#include <optional>
#include <vector>

#include <halfgrad/nn/copy_state.h>

namespace halfgrad::nn {
namespace {

Tensor copy_of(const Tensor& tensor, const std::optional<Device>& device) {
  return Tensor(tensor.array().to(device.value_or(tensor.device())).clone());
}

}  // namespace

bool detail::clone_tensors(const Module& from, Module& to, const std::optional<Device>& device,
                           const std::vector<Tensor*>& members) {
  if (!from.children().empty()) return false;
  const auto assign = [&](const Tensor& original, const Tensor& copy) {
    const auto member = std::ranges::find_if(
        members, [&](const Tensor* m) { return m->defined() && m->is_same(original); });
    if (member != members.end()) **member = copy;
    return member != members.end();
  };
  for (const auto& [name, tensor] : from.named_parameters(false)) {
    const bool trained = tensor.requires_grad();
    if (!assign(tensor, to.register_parameter(name, copy_of(tensor, device), trained)))
      return false;
  }
  for (const auto& [name, tensor] : from.named_buffers(false)) {
    if (!assign(tensor, to.register_buffer(name, copy_of(tensor, device)))) return false;
  }
  return true;
}

void detail::copy_state(const Module& from, Module& to) {
  to.load_state_dict(from.state_dict());
  const auto trained = from.named_parameters();
  for (auto& [name, parameter] : to.named_parameters()) {
    Tensor(parameter).requires_grad_(trained[name].requires_grad());
  }
  to.train(from.is_training());
}

}  // namespace halfgrad::nn
