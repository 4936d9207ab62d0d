#pragma once

#include <functional>

#include <halfgrad/autograd/graph/op.h>

/// The product of a loss and a loss scale, of which most programs want only the gradient.
namespace halfgrad::detail {

/// The node of y = x scale, for a 0-dimensional float32 x:
///     dx = dy scale
/// A backward pass that starts here with dy = 1 needs no kernel: dx is the scale.
class ScaledLossNode final : EdgeStore<2>, public Node {
 public:
  ScaledLossNode(const Tensor& loss, const Tensor& scale);

  const char* name() const override { return "mul"; }
  void backward(std::span<const Tensor> grads, std::span<Tensor> grad_inputs) override;
  void release_saved() override { scale_.reset(); }

  /// Registers the scaler's hook, which does not use the gradient that it is called with.
  void add_own_hook(const Tensor& scaled, const std::function<Tensor(const Tensor&)>& hook);
  /// Returns whether the scaler's hook is the only one, and no tensor retains dy.
  bool is_unobserved() const;
  /// Calls the scaler's hook, and returns dx for dy = 1: the scale itself, so do not write to it.
  Tensor gradient_of_one();

 private:
  SavedTensor scale_;
  std::uint64_t own_hook_ = 0;
};

/// Returns loss * scale with a ScaledLossNode that has `hook`; an undefined tensor for operands
/// that need the op mul. If the loss has a copy that no other code can write to, the product is
/// computed when the program reads it. Call settle_deferred() before a change of the scale.
Tensor scaled_loss(const Tensor& loss, const Tensor& scale,
                   const std::function<Tensor(const Tensor&)>& hook);

}  // namespace halfgrad::detail
