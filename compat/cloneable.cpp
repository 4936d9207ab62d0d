#include <halfgrad/compat/cloneable.h>

#include <string>

#include <halfgrad/core/fail.h>

namespace halfgrad::nn::detail {
namespace {

void expect_same_count(const Module& module, const char* what, std::size_t expected,
                       std::size_t found) {
  if (expected == found) return;
  halfgrad::detail::fail(
      "clone",
      "expected reset() of {} to register {} {}, got {}; assign nothing outside of reset()",
      module.name(), expected, what, found);
}

void copy_named(const Module& module, const char* what,
                const OrderedDict<std::string, Tensor>& from,
                const OrderedDict<std::string, Tensor>& to, const std::optional<Device>& device) {
  expect_same_count(module, what, from.size(), to.size());
  for (const auto& [name, source] : from) {
    const Tensor& target = to[name];
    target.impl()->array = source.array().to(device.value_or(source.device())).clone();
    if (source.is_floating_point()) target.requires_grad_(source.requires_grad());
  }
}

}  // namespace

void copy_tensors(const Module& from, Module& to, const std::optional<Device>& device) {
  copy_named(from, "parameters", from.named_parameters(false), to.named_parameters(false), device);
  copy_named(from, "buffers", from.named_buffers(false), to.named_buffers(false), device);
  to.train(from.is_training());
  const auto children = to.named_children();
  expect_same_count(from, "submodules", from.named_children().size(), children.size());
  for (const auto& [name, child] : from.named_children()) {
    Module& copy = *children[name];
    if (auto* whole = dynamic_cast<TakesOver*>(&copy)) {
      whole->take_over(*child->clone(device));
    } else {
      copy_tensors(*child, copy, device);
    }
  }
}

}  // namespace halfgrad::nn::detail
