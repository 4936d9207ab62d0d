#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <utility>

#include <halfgrad/compat/option.h>
#include <halfgrad/nn/multi_head_attention_forward.h>

/// libtorch's options of F::multi_head_attention_forward(). Keys and values that are projected
/// already (static_k, static_v) are not there.
namespace halfgrad::nn::functional {

class MultiheadAttentionForwardFuncOptions {
 public:
  MultiheadAttentionForwardFuncOptions(std::int64_t embed_dim_to_check, std::int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  operator MultiheadAttentionForwardFuncArguments() const {
    return {.embed_dim_to_check = embed_dim_to_check_,
            .num_heads = num_heads_,
            .in_proj_weight = in_proj_weight_,
            .in_proj_bias = in_proj_bias_,
            .bias_k = bias_k_,
            .bias_v = bias_v_,
            .add_zero_attn = add_zero_attn_,
            .dropout_p = dropout_p_,
            .out_proj_weight = out_proj_weight_,
            .out_proj_bias = out_proj_bias_,
            .training = training_,
            .key_padding_mask = key_padding_mask_,
            .need_weights = need_weights_,
            .attn_mask = attn_mask_,
            .use_separate_proj_weight = use_separate_proj_weight_,
            .q_proj_weight = q_proj_weight_,
            .k_proj_weight = k_proj_weight_,
            .v_proj_weight = v_proj_weight_,
            .average_attn_weights = average_attn_weights_};
  }

  TORCH_ARG(std::int64_t, embed_dim_to_check);
  TORCH_ARG(std::int64_t, num_heads);
  TORCH_ARG(Tensor, in_proj_weight);
  TORCH_ARG(Tensor, in_proj_bias);
  TORCH_ARG(Tensor, bias_k);
  TORCH_ARG(Tensor, bias_v);
  TORCH_ARG(bool, add_zero_attn);
  TORCH_ARG(double, dropout_p);
  TORCH_ARG(Tensor, out_proj_weight);
  TORCH_ARG(Tensor, out_proj_bias);
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(Tensor, key_padding_mask) = {};
  TORCH_ARG(bool, need_weights) = true;
  TORCH_ARG(Tensor, attn_mask) = {};
  TORCH_ARG(bool, use_separate_proj_weight) = false;
  TORCH_ARG(Tensor, q_proj_weight) = {};
  TORCH_ARG(Tensor, k_proj_weight) = {};
  TORCH_ARG(Tensor, v_proj_weight) = {};
  TORCH_ARG(bool, average_attn_weights) = true;
};

}  // namespace halfgrad::nn::functional
