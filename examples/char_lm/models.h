#pragma once

#include <cstdint>
#include <vector>

#include "layers.h"

/// Models that map characters to logits for the next character.
namespace char_lm {

/// Maps `[batch, context]` to `[batch, characters]`: concatenates the embeddings of all characters
/// and applies one hidden layer with tanh (Bengio, Ducharme, Vincent and Jauvin, "A neural
/// probabilistic language model", 2003).
struct Mlp : hg::nn::Callable<Mlp> {
  static constexpr std::int64_t kVector = 16;  ///< size of a character's embedding

  Mlp(std::int64_t characters, std::int64_t context, std::int64_t width);
  hg::Tensor forward(const hg::Tensor& x) const;

  hg::nn::Embedding embedding;
  hg::nn::Linear hidden, output;
};

/// Maps `[batch, length, width]` to the same shape: each position attends to itself and to earlier
/// positions.
struct CausalSelfAttention : hg::nn::Callable<CausalSelfAttention> {
  explicit CausalSelfAttention(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  std::int64_t heads;
  hg::Tensor future;  ///< bool [context, context]: true if column > row
  hg::nn::Linear attention, projection;
  hg::nn::Dropout dropout;
};

/// One transformer block:
///     x = x + attention(norm(x))
///     x = x + mlp(norm(x))
struct Block : hg::nn::Callable<Block> {
  explicit Block(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  hg::nn::LayerNorm attention_norm, mlp_norm;
  CausalSelfAttention attention;
  hg::nn::Linear up, down;
  hg::nn::Dropout dropout;
};

/// Maps `[batch, length]` to `[batch, length, characters]`, where length <= context (Radford et
/// al., "Language models are unsupervised multitask learners", 2019; sizes and initialisation as in
/// nanoGPT). The embedding of the characters is also the weight of the last layer.
struct Gpt : hg::nn::Callable<Gpt> {
  explicit Gpt(const TransformerOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  bool checkpoint;
  hg::nn::Embedding characters, positions;
  hg::nn::Dropout dropout;
  std::vector<Block> blocks;
  hg::nn::LayerNorm norm;
};

}  // namespace char_lm
