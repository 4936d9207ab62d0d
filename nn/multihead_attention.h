#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/plain_names.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct MultiheadAttentionArguments {
  double dropout = 0;  ///< probability of dropping a weight in training mode
  bool bias = true;
  bool add_bias_kv = false;    ///< a learned key and value follow those of every sequence
  bool add_zero_attn = false;  ///< a key and a value of zeros follow as the last ones
  std::optional<std::int64_t> kdim = std::nullopt;  ///< features of the keys; default: embed_dim
  std::optional<std::int64_t> vdim = std::nullopt;  ///< features of the values; default: embed_dim
  bool batch_first = false;                         ///< `[n, l, e]` instead of `[l, n, e]`
  DType dtype = get_default_dtype();
  Device device = get_default_device();
};
HALFGRAD_PLAIN_NAME(MultiheadAttentionOptions, MultiheadAttentionArguments)

/// Attention of num_heads heads (Vaswani et al. 2017), each with embed_dim / num_heads features of
/// projections of the query, the key and the value:
///     output = concat(head_1, ..., head_h) out_proj^T
///     head_i = scaled_dot_product_attention(query Q_i^T, key K_i^T, value V_i^T)
/// where Q_i, K_i and V_i are the rows of head i in the projections. Parameters have PyTorch's
/// names, so that each loads the other's state dict.
class MultiheadAttention : public Callable<MultiheadAttention> {
 public:
  template <std::same_as<std::nullptr_t> T>
  MultiheadAttention(T empty) : Callable(empty) {}
  /// Throws std::invalid_argument unless num_heads divides embed_dim, and both are positive.
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                     MultiheadAttentionArguments options = {});

  /// Returns the output `[l, n, embed_dim]` and the weights, of query `[l, n, embed_dim]`, key
  /// `[s, n, kdim]` and value `[s, n, vdim]`; all without n for a single sequence.
  ///
  /// Masks hide keys where they are true, unlike those of scaled_dot_product_attention, or are
  /// added to the scores. key_padding_mask is `[n, s]`, or `[s]` for a single sequence; attn_mask
  /// is `[l, s]` or `[n * num_heads, l, s]`. No mask hides the keys of add_bias_kv and
  /// add_zero_attn; the weights count them in s.
  ///
  /// The weights are `[n, l, s]`, averaged over the heads, or `[n, num_heads, l, s]` unless
  /// average_attn_weights. They are undefined unless need_weights: then the attention is one op
  /// that does not store them. A query that sees no key gets NaN with weights, and without them
  /// zeros for its heads, both as in PyTorch.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true) const;
  /// Draws the weights of the projections, and bias_k and bias_v, as Glorot and Bengio, and sets
  /// all other biases to 0.
  void reset_parameters();
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

  Tensor in_proj_weight;  ///< `[3 embed_dim, embed_dim]`; undefined if kdim or vdim differs
  Tensor q_proj_weight;   ///< `[embed_dim, embed_dim]`; defined if kdim or vdim differs
  Tensor k_proj_weight;   ///< `[embed_dim, kdim]`; defined if kdim or vdim differs
  Tensor v_proj_weight;   ///< `[embed_dim, vdim]`; defined if kdim or vdim differs
  Tensor in_proj_bias;    ///< `[3 embed_dim]`; undefined without bias
  Tensor bias_k;          ///< `[1, 1, embed_dim]`, after projection; undefined unless add_bias_kv
  Tensor bias_v;          ///< as bias_k
  Linear out_proj{nullptr};

 private:
  std::int64_t embed_dim_ = 0, num_heads_ = 0;
  MultiheadAttentionArguments options_;
};

}  // namespace halfgrad::nn
