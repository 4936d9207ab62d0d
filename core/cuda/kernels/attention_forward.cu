// Attention by tiles that stay on the chip.
//
//     s_ij = scale q_i k_j + mask_ij,  y_i = sum_j exp(s_ij) v_j / sum_j exp(s_ij)
//
// Composed of products and a softmax, attention stores the scores and the weights: L S elements
// each, for each head. Here a block of threads has a tile of queries, and goes over the keys tile
// by tile. It does not know the largest score before it has seen all keys, so it uses the largest
// one so far, and rescales its sums whenever a larger one comes.
//
// A head that is wider than a tile takes one block for each tile of its columns; each of them
// computes the scores. Tensor cores do the products of 16-bit operands
// (attention_tensor_cores.h), and FMAs those of float32 and float64.

#include <halfgrad/core/cuda/kernels/attention.h>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/attention_products.h>

namespace halfgrad::detail {
namespace attention {
namespace {

template <class S>
__global__ void __launch_bounds__(kThreadsOfTile)
    attend(const Operands op, S* y, compute_t<S>* lse) {
  using T = compute_t<S>;
  __shared__ SharedTiles<T> shared;
  const Place<T> place(op.query.rows, op.value.columns);
  const AttentionDropout drop = dropout_of(op);
  const MatrixOfBatch<S> value(op.value, place.batch);
  T largest[kEach<T>], totals[kEach<T>] = {};
  Part<T> sums = {};
#pragma unroll
  for (T& score : largest) score = -std::numeric_limits<T>::infinity();

  const std::int64_t end = end_of_keys(op, place.first_row + kSide<T>);
  for (std::int64_t first = 0; first < end; first += kSide<T>) {
    Part<T> scores;
    compute_scores<S>(op, place.batch, place.first_row, first, shared, scores);
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      T top = largest[i], total = 0;
#pragma unroll
      for (int j = 0; j < kEach<T>; ++j) top = scores[i][j] > top ? scores[i][j] : top;
      top = over_row(top, [](T a, T b) { return b > a ? b : a; });
#pragma unroll
      for (int j = 0; j < kEach<T>; ++j) {
        scores[i][j] = attention_weight(scores[i][j], shift_of(top));
        total += scores[i][j];
      }
      const T factor = top == largest[i] ? T(1) : math::exp(largest[i] - top);
      totals[i] = totals[i] * factor + over_row(total, [](T a, T b) { return a + b; });
      largest[i] = top;
#pragma unroll
      for (int j = 0; j < kEach<T>; ++j) sums[i][j] *= factor;
    }
    if (drop.drops()) {
      each_score<T>(place.first_row, first, [&](int i, int j, std::int64_t q, std::int64_t k) {
        if (!is_hidden(scores[i][j])) scores[i][j] = drop(place.batch, q, k, scores[i][j]);
      });
    }
    store_weights(scores, shared);
    add_weighted<false>(value, first, place.first_column, shared, sums);
  }

#pragma unroll
  for (int i = 0; i < kEach<T>; ++i) {
    const std::int64_t query = place.first_row + row(i);
    if (query >= op.query.rows) continue;
    const std::int64_t index = place.batch * op.query.rows + query;
    if (place.first_column == 0 && column(0) == 0) {
      lse[index] = saved_logsumexp(largest[i], totals[i]);
    }
#pragma unroll
    for (int j = 0; j < kEach<T>; ++j) {
      const std::int64_t at = place.first_column + column(j);
      if (at >= value.columns) continue;
      const T mean = totals[i] == T(0) ? T(0) : sums[i][j] / totals[i];
      y[index * value.columns + at] = convert_on_device<S>(mean);
    }
  }
}

}  // namespace
}  // namespace attention

void attention_on_cuda(const AttentionOperands& operands, const Array& y, const Array& lse) {
  if (lse.numel() == 0) return;
  attention::with_floating_type(y.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    using T = compute_t<S>;
    const attention::Operands op(operands);
    const Launch launch(y, "scaled_dot_product_attention");
    const unsigned blocks =
        attention::Place<T>::blocks(op.batches, op.query.rows, op.value.columns);
    attention::attend<<<blocks, attention::kThreadsOfTile, 0, launch.stream()>>>(op, y.data_as<S>(),
                                                                                 lse.data_as<T>());
    launch.check();
  });
}

}  // namespace halfgrad::detail
