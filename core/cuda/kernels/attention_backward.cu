// The gradients of attention, with dp = drop(dy v^T) and delta_i = dy_i y_i:
//
//     p_ij = exp(s_ij - lse_i),  ds = p (dp - delta)
//     dq = scale ds k,  dk = scale ds^T q,  dv = drop(p)^T dy
//
// The weights p are computed again from lse, which costs one more product of q and k, and saves
// the memory of L S elements for each head. There are two passes, and both compute the weights: in
// the first one a block sums over the keys for its tile of queries, in the second one over the
// queries for its tile of keys. So no two blocks add to the same element, and the bits are the same
// in every run. delta is as in FlashAttention-2: sum_j p_ij dp_ij = dy_i y_i.

#include <halfgrad/core/cuda/kernels/attention.h>

#include <algorithm>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/attention_products.h>

namespace halfgrad::detail {
namespace attention {
namespace {

template <class S>
struct Gradient {
  using T = compute_t<S>;

  Operands forward;
  MatrixView dy, y;
  const T* lse;
  T* delta;  // dy_i y_i, [batches, L]
};

// Computes drop(p) and scale ds of a pair of tiles, for the rows' lse and delta.
template <class S, class T>
__device__ void compute_slopes(const Gradient<S>& op, std::int64_t batch, std::int64_t first_query,
                               std::int64_t first_key, const T (&lse)[kEach<T>],
                               const T (&delta)[kEach<T>], SharedTiles<T>& shared, Part<T>& weights,
                               Part<T>& slopes) {
  const AttentionDropout drop = dropout_of(op.forward);
  compute_scores<S>(op.forward, batch, first_query, first_key, shared, weights);
  each_score<T>(0, 0, [&](int i, int j, auto, auto) { slopes[i][j] = 0; });
  add_dots(MatrixOfBatch<S>(op.dy, batch), first_query, MatrixOfBatch<S>(op.forward.value, batch),
           first_key, shared, slopes);
  each_score<T>(first_query, first_key, [&](int i, int j, std::int64_t q, std::int64_t k) {
    const T score = weights[i][j], weight = attention_weight(score, lse[i]);
    const bool drops = drop.drops() && !is_hidden(weight);
    const T dp = drops ? drop(batch, q, k, slopes[i][j]) : slopes[i][j];
    slopes[i][j] =
        attention_slope(score, weight, dp, delta[i], static_cast<T>(op.forward.rule.scale));
    weights[i][j] = drops ? drop(batch, q, k, weight) : weight;
  });
}

// Stores rows of a contiguous gradient [batches, rows, columns].
template <class T, class S>
__device__ void store_rows(const Place<T>& place, const MatrixView& like, const Part<T>& sums,
                           S* out) {
  each_score<T>(
      place.first_row, place.first_column, [&](int i, int j, std::int64_t r, std::int64_t c) {
        if (r >= like.rows || c >= like.columns) return;
        out[(place.batch * like.rows + r) * like.columns + c] = convert_on_device<S>(sums[i][j]);
      });
}

// dq = scale ds k. Also stores delta, for the other pass.
template <class S>
__global__ void __launch_bounds__(kThreadsOfTile) sum_over_keys(const Gradient<S> op, S* dq) {
  using T = compute_t<S>;
  __shared__ SharedTiles<T> shared;
  const MatrixView& query = op.forward.query;
  const Place<T> place(query.rows, query.columns);
  const MatrixOfBatch<S> dy(op.dy, place.batch), y(op.y, place.batch),
      key(op.forward.key, place.batch);
  T lse[kEach<T>] = {}, delta[kEach<T>];
#pragma unroll
  for (int i = 0; i < kEach<T>; ++i) {
    const std::int64_t at = place.first_row + row(i), index = place.batch * query.rows + at;
    T sum = 0;
    for (std::int64_t c = column(0); c < y.columns; c += kAcross) sum += dy.at(at, c) * y.at(at, c);
    delta[i] = over_row(sum, [](T a, T b) { return a + b; });
    if (at >= query.rows) continue;
    lse[i] = op.lse[index];
    if (place.first_column == 0 && column(0) == 0) op.delta[index] = delta[i];
  }
  Part<T> sums = {};
  const std::int64_t end = end_of_keys(op.forward, place.first_row + kSide<T>);
  for (std::int64_t first = 0; first < end; first += kSide<T>) {
    Part<T> weights, slopes;
    compute_slopes(op, place.batch, place.first_row, first, lse, delta, shared, weights, slopes);
    store_weights(slopes, shared);
    add_weighted<false>(key, first, place.first_column, shared, sums);
  }
  store_rows(place, query, sums, dq);
}

// dk = scale ds^T q,  dv = drop(p)^T dy
template <class S>
__global__ void __launch_bounds__(kThreadsOfTile)
    sum_over_queries(const Gradient<S> op, S* dk, S* dv) {
  using T = compute_t<S>;
  __shared__ SharedTiles<T> shared;
  const MatrixView &key = op.forward.key, &value = op.forward.value;
  const Place<T> place(key.rows, max(key.columns, value.columns));
  const MatrixOfBatch<S> dy(op.dy, place.batch), query(op.forward.query, place.batch);
  Part<T> k_sums = {}, v_sums = {};
  // Queries of an earlier tile do not see these keys.
  std::int64_t first = op.forward.rule.is_causal ? place.first_row : 0;
  for (; first < query.rows; first += kSide<T>) {
    T lse[kEach<T>] = {}, delta[kEach<T>] = {};
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      const std::int64_t at = first + row(i);
      if (at >= query.rows) continue;
      lse[i] = op.lse[place.batch * query.rows + at];
      delta[i] = op.delta[place.batch * query.rows + at];
    }
    Part<T> weights, slopes;
    compute_slopes(op, place.batch, first, place.first_row, lse, delta, shared, weights, slopes);
    store_weights(weights, shared);
    add_weighted<true>(dy, first, place.first_column, shared, v_sums);
    store_weights(slopes, shared);
    add_weighted<true>(query, first, place.first_column, shared, k_sums);
  }
  store_rows(place, key, k_sums, dk);
  store_rows(place, value, v_sums, dv);
}

template <class S>
void launch_gradient(const AttentionOperands& operands, const Array& dy, const Array& y,
                     const Array& lse, const AttentionGradients& gradients) {
  using T = compute_t<S>;
  const Array delta = Array::empty(lse.sizes(), lse.dtype(), lse.device());
  const Gradient<S> op{Operands(operands), MatrixView(dy), MatrixView(y), lse.data_as<const T>(),
                       delta.data_as<T>()};
  const MatrixView &q = op.forward.query, &k = op.forward.key, &v = op.forward.value;
  const Launch launch(y, "scaled_dot_product_attention");
  if (const unsigned blocks = Place<T>::blocks(op.forward.batches, q.rows, q.columns)) {
    sum_over_keys<<<blocks, kThreadsOfTile, 0, launch.stream()>>>(op, gradients.query.data_as<S>());
    launch.check();
  }
  const std::int64_t columns = std::max(k.columns, v.columns);
  if (const unsigned blocks = Place<T>::blocks(op.forward.batches, k.rows, columns)) {
    sum_over_queries<<<blocks, kThreadsOfTile, 0, launch.stream()>>>(op, gradients.key.data_as<S>(),
                                                                     gradients.value.data_as<S>());
    launch.check();
  }
}

}  // namespace
}  // namespace attention

AttentionGradients attention_gradient_on_cuda(const AttentionOperands& operands, const Array& dy,
                                              const Array& y, const Array& lse) {
  const auto like = [](const Array& x) { return Array::empty(x.sizes(), x.dtype(), x.device()); };
  const AttentionGradients gradients{like(operands.query), like(operands.key),
                                     like(operands.value)};
  attention::with_floating_type(y.dtype(), [&](auto tag) {
    attention::launch_gradient<typename decltype(tag)::type>(operands, dy, y, lse, gradients);
  });
  return gradients;
}

}  // namespace halfgrad::detail
