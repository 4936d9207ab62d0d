#pragma once

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/math/attention_weights.h>

/// Attention and its gradients as compositions of differentiable ops: the reference of the kernels.
namespace halfgrad::detail {

/// dropout with a given mask; in ops/dropout.cpp.
Tensor dropout_by_key(const Tensor& input, double p, RandomKey key);

/// Operands as those of AttentionOperands. They are widened to float32 at least.
struct ComposedAttention {
  Tensor query, key, value, mask;
  AttentionRule rule;

  Tensor output() const;

  struct Gradients {
    Tensor query, key, value, mask;
  };
  /// All four gradients, for dy [batch..., L, V].
  Gradients gradients(const Tensor& dy) const;

 private:
  Tensor widened(const Tensor& operand) const;
  /// softmax(scale q k^T + mask), and zeros for a query that sees no key.
  Tensor weights() const;
};

}  // namespace halfgrad::detail
