#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/halfgrad.h>

/// Characters to logits for the one that follows.
namespace char_lm {

namespace hg = halfgrad;

/// [batch, context] to [batch, characters]: the vectors of all characters in one row, a hidden
/// layer of tanh (Bengio, Ducharme, Vincent and Jauvin, "A neural probabilistic language model",
/// 2003).
struct Mlp : hg::nn::Callable<Mlp> {
  static constexpr std::int64_t kVector = 16;  ///< numbers for a character

  Mlp(std::int64_t characters, std::int64_t context, std::int64_t width);
  hg::Tensor forward(const hg::Tensor& x) const;

  hg::nn::Embedding embedding;
  hg::nn::Linear hidden, output;
};

struct GptOptions {
  std::int64_t characters, context, layers, heads, width;
  double dropout = 0;
  bool checkpoint = false;
};

/// [batch, length, width] to the same: each position attends to itself and those before.
struct CausalSelfAttention : hg::nn::Callable<CausalSelfAttention> {
  explicit CausalSelfAttention(const GptOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  std::int64_t heads;
  hg::Tensor future;  ///< bool [context, context]: column after row
  hg::nn::Linear attention, projection;
  hg::nn::Dropout dropout;
};

/// x + attention(norm(x)), then x + mlp(norm(x)).
struct Block : hg::nn::Callable<Block> {
  explicit Block(const GptOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  hg::nn::LayerNorm attention_norm, mlp_norm;
  CausalSelfAttention attention;
  hg::nn::Linear up, down;
  hg::nn::Dropout dropout;
};

/// [batch, length] to [batch, length, characters], length up to the context (Radford et al.,
/// "Language models are unsupervised multitask learners", 2019; sizes and initialisation as in
/// nanoGPT). The table of characters is also the last layer's matrix.
struct Gpt : hg::nn::Callable<Gpt> {
  explicit Gpt(const GptOptions& options);
  hg::Tensor forward(const hg::Tensor& x) const;

  bool checkpoint;
  hg::nn::Embedding characters, positions;
  hg::nn::Dropout dropout;
  std::vector<Block> blocks;
  hg::nn::LayerNorm norm;
};

}  // namespace char_lm
