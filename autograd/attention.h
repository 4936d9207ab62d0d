#pragma once

#include <optional>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// The values of the keys, weighted by how well they match each query (Vaswani et al. 2017):
///
///     y = softmax(scale query key^T + mask) value
///
/// query [..., l, e], key [..., s, e] and value [..., s, v] have one floating dtype, and their
/// first dimensions broadcast; y is [..., l, v]. `scale` is 1 / sqrt(e) by default.
///
/// attn_mask broadcasts to [..., l, s]. A bool mask is true where the query sees the key; a mask of
/// the query's dtype, or of float32, is added to the scores. With is_causal query i sees the keys
/// j <= i, and there is no other mask. A query that sees no key gets zeros, as in PyTorch. A key
/// that a query does not see takes no part, even if its value is inf or NaN; PyTorch gives NaN
/// then.
///
/// With enable_gqa, key and value may have fewer heads, in dimension -3, than the query: each is
/// repeated for as many heads of the query (grouped-query attention: Ainslie et al. 2023).
///
/// With dropout_p > 0 the weights are dropped as by `dropout`; pass 0 in evaluation.
///
/// One kernel computes y, and two its gradients, without a matrix of scores in memory
/// (FlashAttention: Dao et al. 2022, Dao 2023). They sum in float32 at least, in a fixed order. A
/// gradient of attn_mask, and backward with create_graph, are composed of other ops, which store
/// the scores.
///
/// Throws std::invalid_argument for other shapes and dtypes.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0,
                                    bool is_causal = false,
                                    std::optional<double> scale = std::nullopt,
                                    bool enable_gqa = false);

}  // namespace halfgrad
