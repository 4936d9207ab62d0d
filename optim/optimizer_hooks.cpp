#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

HookHandle Optimizer::register_step_pre_hook(StepHook hook) {
  return add_hook(pre_hooks_, std::move(hook));
}

HookHandle Optimizer::register_step_post_hook(StepHook hook) {
  return add_hook(post_hooks_, std::move(hook));
}

HookHandle Optimizer::register_load_state_dict_post_hook(StepHook hook) {
  return add_hook(load_hooks_, std::move(hook));
}

HookHandle Optimizer::add_hook(const std::shared_ptr<Hooks>& hooks, StepHook hook) {
  const std::uint64_t id = next_hook_++;
  hooks->emplace(id, std::move(hook));
  return HookHandle([id, weak = std::weak_ptr(hooks)] {
    if (const auto alive = weak.lock()) alive->erase(id);
  });
}

void Optimizer::run_hooks(const Hooks& hooks) {
  for (const auto& [id, hook] : Hooks(hooks)) hook(*this);  // a copy: hooks may remove themselves
}

}  // namespace halfgrad::optim
