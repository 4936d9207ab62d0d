#pragma once

#include <halfgrad/core/array.h>
#include <halfgrad/core/math/attention_weights.h>

/// Attention without a matrix of scores in memory (FlashAttention: Dao et al. 2022, Dao 2023):
///
///     y = softmax(scale q k^T + mask) v
///
/// Forward reads the keys in tiles and keeps a running maximum, sum and output for each query. It
/// saves the logsumexp of each row of scores, from which backward computes the weights again.
namespace halfgrad::detail {

/// query [batch..., L, E], key [batch..., S, E], value [batch..., S, V], and mask, undefined or
/// [batch..., L, S]. Strides are arbitrary, 0 included. query, key and value have one floating
/// dtype. A mask is bool, true where the query sees the key, or floating point, added to the
/// scores.
struct AttentionOperands {
  Array query, key, value, mask;
  AttentionRule rule;
};

/// Computes y [batch..., L, V] and the logsumexp of the scores lse [batch..., L], both contiguous.
/// y has the dtype of the query, lse is float64 for float64 and float32 otherwise. A query that
/// sees no key gets zeros, and inf for its logsumexp.
void attention_on_cuda(const AttentionOperands& operands, const Array& y, const Array& lse);

/// Gradients as large as the expanded operands, contiguous, in the dtype of the query.
struct AttentionGradients {
  Array query, key, value;
};

/// Returns the gradients for dy [batch..., L, V], of any strides, and the results of forward. There
/// are no atomics: one pass over tiles of queries sums dq, and one over tiles of keys dk and dv.
AttentionGradients attention_gradient_on_cuda(const AttentionOperands& operands, const Array& dy,
                                              const Array& y, const Array& lse);

}  // namespace halfgrad::detail
