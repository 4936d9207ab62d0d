#include "models.h"

#include <cmath>
#include <limits>
#include <string>

namespace char_lm {
namespace {

hg::nn::LayerNorm layer_norm(std::int64_t width) {
  return hg::nn::LayerNorm({width}, {.bias = false});
}

}  // namespace

Mlp::Mlp(std::int64_t characters, std::int64_t context, std::int64_t width)
    : Callable("Mlp"),
      embedding(register_module("embedding", hg::nn::Embedding(characters, kVector))),
      hidden(register_module("hidden", hg::nn::Linear(context * kVector, width))),
      output(register_module("output", hg::nn::Linear(width, characters))) {}

hg::Tensor Mlp::forward(const hg::Tensor& x) const {
  return output(hg::tanh(hidden(embedding(x).flatten(1))));
}

CausalSelfAttention::CausalSelfAttention(const TransformerOptions& options)
    : Callable("CausalSelfAttention"),
      heads(options.heads),
      attention(register_module("attention", matrix(options.width, 3 * options.width, kStd))),
      projection(register_module("projection",
                                 matrix(options.width, options.width, residual_std(options)))),
      dropout(register_module("dropout", hg::nn::Dropout(options.dropout))) {
  const hg::Tensor position = hg::arange(options.context);
  future = register_buffer("future", position.unsqueeze(0) > position.unsqueeze(1));
}

hg::Tensor CausalSelfAttention::forward(const hg::Tensor& x) const {
  const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  // [batch, length, 3 width] to query, key and value, each [batch, heads, length, width / heads]
  const hg::Tensor parts =
      attention(x).view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  hg::Tensor weights = hg::matmul(parts[0] * scale, parts[1].transpose(2, 3));
  const hg::Tensor hidden = future.slice(0, 0, length).slice(1, 0, length);
  weights = hg::masked_fill(weights, hidden, -std::numeric_limits<double>::infinity());
  weights = dropout(hg::softmax(weights, -1));
  const hg::Tensor mixed = hg::matmul(weights, parts[2]).transpose(1, 2);
  return dropout(projection(mixed.reshape({batch, length, width})));
}

Block::Block(const TransformerOptions& options)
    : Callable("Block"),
      attention_norm(register_module("attention_norm", layer_norm(options.width))),
      mlp_norm(register_module("mlp_norm", layer_norm(options.width))),
      attention(register_module("attention", CausalSelfAttention(options))),
      up(register_module("up", matrix(options.width, 4 * options.width, kStd))),
      down(
          register_module("down", matrix(4 * options.width, options.width, residual_std(options)))),
      dropout(register_module("dropout", hg::nn::Dropout(options.dropout))) {}

hg::Tensor Block::forward(const hg::Tensor& x) const {
  const hg::Tensor attended = x + attention(attention_norm(x));
  return attended + dropout(down(hg::gelu(up(mlp_norm(attended)))));
}

Gpt::Gpt(const TransformerOptions& options)
    : Callable("Gpt"),
      checkpoint(options.checkpoint),
      characters(
          register_module("characters", hg::nn::Embedding(options.characters, options.width))),
      positions(register_module("positions", hg::nn::Embedding(options.context, options.width))),
      dropout(register_module("dropout", hg::nn::Dropout(options.dropout))),
      norm(register_module("norm", layer_norm(options.width))) {
  hg::nn::init::normal_(characters.weight, 0, kStd);
  hg::nn::init::normal_(positions.weight, 0, kStd);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.push_back(register_module("block" + std::to_string(i), Block(options)));
  }
}

hg::Tensor Gpt::forward(const hg::Tensor& x) const {
  const hg::Tensor position = hg::arange(x.size(1), {.device = x.device()});
  hg::Tensor stream = dropout(characters(x) + positions(position));
  for (const Block& block : blocks) {
    stream = checkpoint ? hg::utils::checkpoint(block, stream) : block(stream);
  }
  return hg::linear(norm(stream), characters.weight);
}

}  // namespace char_lm
