#include "llama.h"

#include <string>

namespace char_lm {
namespace {

/// 8/3 width, rounded up to a multiple of 8, which tensor cores need.
std::int64_t hidden_width(std::int64_t width) { return (width + 2) / 3 * 8; }

}  // namespace

RotaryAttention::RotaryAttention(const TransformerOptions& options)
    : Callable("RotaryAttention"),
      heads(options.heads),
      dropout_p(options.dropout),
      attention(register_module("attention", matrix(options.width, 3 * options.width, kStd))),
      projection(register_module("projection",
                                 matrix(options.width, options.width, residual_std(options)))) {}

hg::Tensor RotaryAttention::forward(const hg::Tensor& x) const {
  const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  // [batch, length, 3 width] to query, key and value, each [batch, heads, length, width / heads]
  const hg::Tensor parts =
      attention(x).view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const double p = is_training() ? dropout_p : 0;
  const hg::Tensor mixed = hg::scaled_dot_product_attention(hg::rope(parts[0]), hg::rope(parts[1]),
                                                            parts[2], {}, p, /*is_causal=*/true);
  return projection(mixed.transpose(1, 2).reshape({batch, length, width}));
}

GatedFeedForward::GatedFeedForward(const TransformerOptions& options)
    : Callable("GatedFeedForward"),
      gate_and_up(register_module("gate_and_up",
                                  matrix(options.width, 2 * hidden_width(options.width), kStd))),
      down(register_module(
          "down", matrix(hidden_width(options.width), options.width, residual_std(options)))) {}

hg::Tensor GatedFeedForward::forward(const hg::Tensor& x) const {
  return down(hg::swiglu(gate_and_up(x)));
}

LlamaBlock::LlamaBlock(const TransformerOptions& options)
    : Callable("LlamaBlock"),
      attention_norm(register_module("attention_norm", hg::nn::RMSNorm({options.width}))),
      feed_forward_norm(register_module("feed_forward_norm", hg::nn::RMSNorm({options.width}))),
      attention(register_module("attention", RotaryAttention(options))),
      feed_forward(register_module("feed_forward", GatedFeedForward(options))),
      dropout(register_module("dropout", hg::nn::Dropout(options.dropout))) {}

hg::Tensor LlamaBlock::forward(const hg::Tensor& x) const {
  const hg::Tensor attended = x + dropout(attention(attention_norm(x)));
  return attended + dropout(feed_forward(feed_forward_norm(attended)));
}

Llama::Llama(const TransformerOptions& options)
    : Callable("Llama"),
      checkpoint(options.checkpoint),
      characters(
          register_module("characters", hg::nn::Embedding(options.characters, options.width))),
      dropout(register_module("dropout", hg::nn::Dropout(options.dropout))),
      norm(register_module("norm", hg::nn::RMSNorm({options.width}))) {
  hg::nn::init::normal_(characters.weight, 0, kStd);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.push_back(register_module("block" + std::to_string(i), LlamaBlock(options)));
  }
}

hg::Tensor Llama::forward(const hg::Tensor& x) const {
  hg::Tensor stream = dropout(characters(x));
  for (const LlamaBlock& block : blocks) {
    stream = checkpoint ? hg::utils::checkpoint(block, stream) : block(stream);
  }
  return hg::linear(norm(stream), characters.weight);
}

}  // namespace char_lm
