#include <halfgrad/nn/multihead_attention.h>

#include <memory>

#include <halfgrad/core/fail.h>
#include <halfgrad/nn/copy_state.h>
#include <halfgrad/nn/init.h>
#include <halfgrad/nn/multi_head_attention_forward.h>

namespace halfgrad::nn {
namespace {

constexpr const char* kMultiheadName = "MultiheadAttention";

MultiheadAttentionArguments with_sizes(std::int64_t embed_dim, std::int64_t num_heads,
                                       MultiheadAttentionArguments options) {
  if (embed_dim <= 0 || num_heads <= 0 || embed_dim % num_heads != 0) {
    halfgrad::detail::fail(kMultiheadName,
                           "expected a positive embed_dim that num_heads divides, got {} and {}",
                           embed_dim, num_heads);
  }
  options.kdim = options.kdim.value_or(embed_dim);
  options.vdim = options.vdim.value_or(embed_dim);
  return options;
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       MultiheadAttentionArguments options)
    : Callable(kMultiheadName,
               detail::text(embed_dim, ", ", num_heads, ", dropout=", options.dropout,
                            ", bias=", options.bias, ", batch_first=", options.batch_first)),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(with_sizes(embed_dim, num_heads, options)) {
  const auto parameter = [&](const char* name, const Shape& sizes) {
    return register_parameter(name, Tensor(Array::empty(sizes, options.dtype, options.device)));
  };
  if (*options_.kdim == embed_dim && *options_.vdim == embed_dim) {
    in_proj_weight = parameter("in_proj_weight", {3 * embed_dim, embed_dim});
  } else {
    q_proj_weight = parameter("q_proj_weight", {embed_dim, embed_dim});
    k_proj_weight = parameter("k_proj_weight", {embed_dim, *options_.kdim});
    v_proj_weight = parameter("v_proj_weight", {embed_dim, *options_.vdim});
  }
  if (options.bias) in_proj_bias = parameter("in_proj_bias", {3 * embed_dim});
  out_proj = register_module(
      "out_proj", Linear(embed_dim, embed_dim,
                         {.bias = options.bias, .dtype = options.dtype, .device = options.device}));
  if (options.add_bias_kv) {
    bias_k = parameter("bias_k", {1, 1, embed_dim});
    bias_v = parameter("bias_v", {1, 1, embed_dim});
  }
  reset_parameters();
}

void MultiheadAttention::reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (weight.defined()) init::xavier_uniform_(weight);
  }
  for (const Tensor& row : {bias_k, bias_v}) {
    if (row.defined()) init::xavier_normal_(row);
  }
  if (!in_proj_bias.defined()) return;
  init::zeros_(in_proj_bias);
  init::zeros_(out_proj.bias);
}

std::shared_ptr<Module> MultiheadAttention::clone(const std::optional<Device>& device) const {
  MultiheadAttentionArguments options = options_;
  options.dtype = out_proj.weight.dtype();
  options.device = device.value_or(out_proj.weight.device());
  const auto copy = std::make_shared<MultiheadAttention>(embed_dim_, num_heads_, options);
  detail::copy_state(*this, *copy);
  return copy;
}

std::tuple<Tensor, Tensor> MultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                                       const Tensor& value,
                                                       const Tensor& key_padding_mask,
                                                       bool need_weights, const Tensor& attn_mask,
                                                       bool average_attn_weights) const {
  return functional::multi_head_attention_forward(
      query, key, value,
      {.embed_dim_to_check = embed_dim_,
       .num_heads = num_heads_,
       .in_proj_weight = in_proj_weight,
       .in_proj_bias = in_proj_bias,
       .bias_k = bias_k,
       .bias_v = bias_v,
       .add_zero_attn = options_.add_zero_attn,
       .dropout_p = options_.dropout,
       .out_proj_weight = out_proj.weight,
       .out_proj_bias = out_proj.bias,
       .training = is_training(),
       .key_padding_mask = key_padding_mask,
       .need_weights = need_weights,
       .attn_mask = attn_mask,
       .use_separate_proj_weight = !in_proj_weight.defined(),
       .q_proj_weight = q_proj_weight,
       .k_proj_weight = k_proj_weight,
       .v_proj_weight = v_proj_weight,
       .average_attn_weights = average_attn_weights,
       .batch_first = options_.batch_first});
}

}  // namespace halfgrad::nn
