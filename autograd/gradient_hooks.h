#pragma once

#include <functional>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::autograd {

/// Calls `hook` with `leaf` when a backward pass has added to its grad(): PyTorch's
/// Tensor.register_post_accumulate_grad_hook.
///
///   autograd::register_post_accumulate_grad_hook(weight, [&](const Tensor& w) {
///     optimizer_of(w).step();  // while backward computes the gradients of earlier layers
///     w.set_grad({});
///   });
///
/// The gradient is complete for this pass, and the pass goes on. If the pass throws later, such
/// leaves keep what was added. autograd::grad() does not call the hook. A leaf that a nested
/// backward pass reaches has its hook called there as well.
///
/// Throws std::runtime_error if `leaf` is no leaf, or does not require grad.
HookHandle register_post_accumulate_grad_hook(const Tensor& leaf,
                                              std::function<void(const Tensor&)> hook);

}  // namespace halfgrad::autograd
