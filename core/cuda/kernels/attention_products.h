#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: this header is for kernels"
#endif

#include <cstdint>
#include <limits>

#include <halfgrad/core/cuda/kernels/attention_tensor_cores.h>
#include <halfgrad/core/cuda/kernels/attention_tile.h>

/// The products of attention's tiles, and the scores.
namespace halfgrad::detail::attention {

/// add_dots, below, by FMAs of all threads.
template <class S, class T>
__device__ void add_dots_by_threads(const MatrixOfBatch<S>& a, std::int64_t first_a,
                                    const MatrixOfBatch<S>& b, std::int64_t first_b,
                                    SharedTiles<T>& shared, Part<T>& sums) {
  for (std::int64_t depth = 0; depth < a.columns; depth += kDepth) {
    load_tile(a, first_a, depth, kSide<T>, kDepth, shared.left);
    load_tile(b, first_b, depth, kSide<T>, kDepth, shared.right);
    __syncthreads();
#pragma unroll 8
    for (int c = 0; c < kDepth; ++c) {
      T x[kEach<T>], y[kEach<T>];
#pragma unroll
      for (int i = 0; i < kEach<T>; ++i) {
        x[i] = shared.left[row(i) * (kDepth + 1) + c];
        y[i] = shared.right[column(i) * (kDepth + 1) + c];
      }
#pragma unroll
      for (int i = 0; i < kEach<T>; ++i) {
#pragma unroll
        for (int j = 0; j < kEach<T>; ++j) sums[i][j] = std::fma(x[i], y[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
}

/// sums[i][j] += sum_k weights[row][first + k] tile[k][column], or with weights[first + k][row] if
/// kTransposed, for kDepth rows k of the tile. Hidden weights add nothing.
template <bool kTransposed, class T>
__device__ void add_rows(const SharedTiles<T>& shared, int first, const T* tile, Part<T>& sums) {
#pragma unroll 8
  for (int k = 0; k < kDepth; ++k) {
    T w[kEach<T>], y[kEach<T>];
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      w[i] = kTransposed ? shared.weights[first + k][row(i)] : shared.weights[row(i)][first + k];
      y[i] = tile[k * (kSide<T> + 1) + column(i)];
    }
#pragma unroll
    for (int i = 0; i < kEach<T>; ++i) {
      const bool hidden = is_hidden(w[i]);
#pragma unroll
      for (int j = 0; j < kEach<T>; ++j) {
        sums[i][j] = hidden ? sums[i][j] : std::fma(w[i], y[j], sums[i][j]);
      }
    }
  }
}

/// add_weighted, below, by FMAs of all threads.
template <bool kTransposed, class S, class T>
__device__ void add_weighted_by_threads(const MatrixOfBatch<S>& rows, std::int64_t first,
                                        std::int64_t first_column, SharedTiles<T>& shared,
                                        Part<T>& sums) {
#pragma unroll 1
  for (int depth = 0; depth < kSide<T>; depth += kDepth) {
    load_tile(rows, first + depth, first_column, kDepth, kSide<T>, shared.right);
    __syncthreads();
    add_rows<kTransposed>(shared, depth, shared.right, sums);
    __syncthreads();
  }
}

/// add_weighted on tensor cores. Leaves the terms to add_rows where a tensor core's 0 times an
/// infinite element would be NaN, for a hidden weight too, or where a weight overflows in 16 bits.
template <bool kTransposed, class S>
__device__ void add_weighted_by_warps(const MatrixOfBatch<S>& rows, std::int64_t first,
                                      std::int64_t first_column, SharedTiles<float>& shared,
                                      Part<float>& sums) {
  WarpProducts<S> products;
  const bool fits = weights_fit<S>(shared);
#pragma unroll 1
  for (int depth = 0; depth < kSide<float>; depth += kDepth) {
    S* const tile = reinterpret_cast<S*>(shared.right);
    const bool finite = copy_tile(rows, first + depth, first_column, kDepth, kSide<float>, tile);
    if (__syncthreads_and(fits && finite)) {
      products.template add_weighted<kTransposed>(shared, depth, tile);
    } else {
      load_tile(rows, first + depth, first_column, kDepth, kSide<float>, shared.left);
      __syncthreads();
      add_rows<kTransposed>(shared, depth, shared.left, sums);
    }
    __syncthreads();
  }
  products.add_to(shared, sums);
}

/// sums[i][j] += the dot product of row first_a + row(i) of a and row first_b + column(j) of b
template <class S, class T>
__device__ void add_dots(const MatrixOfBatch<S>& a, std::int64_t first_a, const MatrixOfBatch<S>& b,
                         std::int64_t first_b, SharedTiles<T>& shared, Part<T>& sums) {
  if constexpr (kHasTensorCores<S>) {
    add_dots_by_warps(a, first_a, b, first_b, shared, sums);
  } else {
    add_dots_by_threads(a, first_a, b, first_b, shared, sums);
  }
}

/// sums[i][j] += sum_k weights[row][k] rows[k][column], or with weights[k][row] if kTransposed, for
/// the rows from `first` on. The barrier before the first sum also makes the weights visible.
template <bool kTransposed, class S, class T>
__device__ void add_weighted(const MatrixOfBatch<S>& rows, std::int64_t first,
                             std::int64_t first_column, SharedTiles<T>& shared, Part<T>& sums) {
  if constexpr (kHasTensorCores<S>) {
    add_weighted_by_warps<kTransposed>(rows, first, first_column, shared, sums);
  } else {
    add_weighted_by_threads<kTransposed>(rows, first, first_column, shared, sums);
  }
}

/// Computes the scores of a pair of tiles: -inf for keys that a query does not see, and outside.
template <class S, class T>
__device__ void compute_scores(const Operands& op, std::int64_t batch, std::int64_t first_query,
                               std::int64_t first_key, SharedTiles<T>& shared, Part<T>& scores) {
  const MatrixOfBatch<S> query(op.query, batch), key(op.key, batch);
  each_score<T>(0, 0, [&](int i, int j, auto, auto) { scores[i][j] = 0; });
  add_dots(query, first_query, key, first_key, shared, scores);
  const std::int64_t mask = op.has_mask ? op.mask.offset(batch) : 0;
  constexpr T kHiddenScore = -std::numeric_limits<T>::infinity();
  const bool is_bool = op.mask.dtype == DType::boolean;
  each_score<T>(first_query, first_key, [&](int i, int j, std::int64_t q, std::int64_t k) {
    T score = seen_score(scores[i][j] * static_cast<T>(op.rule.scale));
    bool hidden = q >= query.rows || k >= key.rows || op.rule.hides(q, k);
    if (op.has_mask && !hidden) {
      const T x = load<T>(op.mask.data, op.mask.dtype,
                          mask + q * op.mask.row_stride + k * op.mask.column_stride);
      hidden = x == (is_bool ? T(0) : kHiddenScore);
      if (!is_bool) score = seen_score(score + x);
    }
    scores[i][j] = hidden ? kHiddenScore : score;
  });
}

}  // namespace halfgrad::detail::attention
