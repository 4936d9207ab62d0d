#pragma once

#include <cstdint>
#include <tuple>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/plain_names.h>

namespace halfgrad::nn::functional {

/// The weights, masks and modes of multi_head_attention_forward(). e is the number of features of
/// the query.
struct MultiheadAttentionForwardFuncArguments {
  std::int64_t embed_dim_to_check;  ///< e
  std::int64_t num_heads;           ///< divides e

  Tensor in_proj_weight;  ///< `[3 e, e]`: rows for query, key and value. May be undefined, if
                          ///< use_separate_proj_weight
  Tensor in_proj_bias;    ///< `[3 e]`, or undefined
  Tensor bias_k;          ///< `[1, 1, e]`: a projected key that follows those of every sequence
  Tensor bias_v;          ///< `[1, 1, e]`: its value; undefined like bias_k
  bool add_zero_attn = false;  ///< a key and a value of zeros follow as the last ones
  double dropout_p = 0;        ///< probability of dropping a weight in training mode
  Tensor out_proj_weight;      ///< `[e, e]`
  Tensor out_proj_bias;        ///< `[e]`, or undefined

  bool training = true;
  Tensor key_padding_mask;  ///< `[n, s]`, or `[s]` for a single sequence
  bool need_weights = true;
  Tensor attn_mask;  ///< `[l, s]` or `[n * num_heads, l, s]`
  bool use_separate_proj_weight = false;
  Tensor q_proj_weight;  ///< `[e, e]`, and so on: used if use_separate_proj_weight
  Tensor k_proj_weight;  ///< `[e, features of the key]`
  Tensor v_proj_weight;  ///< `[e, features of the value]`
  bool average_attn_weights = true;
  bool batch_first = false;  ///< query, key, value and output are `[n, l, e]`
};
HALFGRAD_PLAIN_NAME(MultiheadAttentionForwardFuncOptions, MultiheadAttentionForwardFuncArguments)

/// Attention of several heads; see nn::MultiheadAttention, which is a module with the weights.
/// Returns the output, and the weights if they are needed. Throws std::invalid_argument for sizes
/// that do not fit.
std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncArguments& options);

}  // namespace halfgrad::nn::functional
