#include <halfgrad/autograd/gradient_hooks.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include <halfgrad/autograd/graph/post_accumulate.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::autograd {

HookHandle register_post_accumulate_grad_hook(const Tensor& leaf,
                                              std::function<void(const Tensor&)> hook) {
  using halfgrad::detail::fail;
  if (!leaf.is_leaf() || !leaf.requires_grad()) {
    fail<std::runtime_error>(
        "register_post_accumulate_grad_hook", "expected a leaf that requires grad, got a tensor {}",
        leaf.is_leaf() ? "that does not require grad"
                       : "with history; use register_hook() and retain_grad()");
  }
  const std::uint64_t id =
      halfgrad::detail::add_post_accumulate_hook(*leaf.impl(), std::move(hook));
  return HookHandle([weak = std::weak_ptr(leaf.impl()), id] {
    if (const auto impl = weak.lock()) {
      std::erase_if(impl->hooks, [id](const auto& known) { return known.id == id; });
    }
  });
}

}  // namespace halfgrad::autograd
