#pragma once

#include <cstdint>
#include <vector>

#include "layers.h"

/// A transformer as Llama (Touvron et al., "LLaMA: open and efficient foundation language models",
/// 2023). It differs from Gpt in models.h in four places:
///
///     Gpt                                       Llama
///     an embedding of each position is added    rope turns queries and keys by their positions
///     LayerNorm                                 RMSNorm, which subtracts no mean
///     scores, mask and softmax are ops          one op: scaled_dot_product_attention
///     down(gelu(up(x)))                         down(swiglu(gate(x), up(x)))
namespace char_lm {

/// Maps `[batch, length, width]` to the same shape: each position attends to itself and to earlier
/// positions.
struct RotaryAttention : hg::nn::Callable<RotaryAttention> {
  explicit RotaryAttention(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  std::int64_t heads;
  double dropout_p;  ///< the probability that a weight of the attention is dropped
  hg::nn::Linear attention, projection;
};

/// Maps `[..., width]` to the same shape, with a hidden layer of 8/3 width: its three matrices have
/// as many weights as the two of Gpt's, of which the hidden layer has 4 width.
struct GatedFeedForward : hg::nn::Callable<GatedFeedForward> {
  explicit GatedFeedForward(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  hg::nn::Linear gate_and_up, down;
};

/// One transformer block:
///     x = x + attention(norm(x))
///     x = x + feed_forward(norm(x))
struct LlamaBlock : hg::nn::Callable<LlamaBlock> {
  explicit LlamaBlock(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  hg::nn::RMSNorm attention_norm, feed_forward_norm;
  RotaryAttention attention;
  GatedFeedForward feed_forward;
  hg::nn::Dropout dropout;
};

/// Maps `[batch, length]` to `[batch, length, characters]`, where length <= context. The embedding
/// of the characters is also the weight of the last layer.
struct Llama : hg::nn::Callable<Llama> {
  explicit Llama(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  bool checkpoint;
  hg::nn::Embedding characters;
  hg::nn::Dropout dropout;
  std::vector<LlamaBlock> blocks;
  hg::nn::RMSNorm norm;
};

}  // namespace char_lm
