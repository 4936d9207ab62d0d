#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: this header is for kernels"
#endif

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/kernels/attention.h>
#include <halfgrad/core/math/math.h>

/// Tiles of attention's scores, weights and sums on a GPU.
///
/// A block has 16 x 16 threads, and each has 4 x 4 elements of a tile of 64 x 64 (2 x 2 of 32 x 32
/// in float64), spread so that neighbouring threads have neighbouring elements.
namespace halfgrad::detail::attention {

inline constexpr int kAcross = 16;  ///< threads in each direction of a tile
inline constexpr int kThreadsOfTile = kAcross * kAcross;
inline constexpr int kDepth = 32;  ///< terms of a sum that are in shared memory at a time

template <class T>
inline constexpr int kEach = sizeof(T) == sizeof(double) ? 2 : 4;
template <class T>
inline constexpr int kSide = kAcross* kEach<T>;

/// A thread's part of a tile: element [i][j] is in row `row(i)` and column `column(j)`.
template <class T>
using Part = T[kEach<T>][kEach<T>];
inline __device__ int row(int i) { return static_cast<int>(threadIdx.x) / kAcross + i * kAcross; }
inline __device__ int column(int j) {
  return static_cast<int>(threadIdx.x) % kAcross + j * kAcross;
}

/// Rows are padded by one element to avoid bank conflicts. Tiles of 16-bit elements, which ldmatrix
/// reads in rows of 16 bytes, lie in the same memory.
template <class T>
struct alignas(16) SharedTiles {
  T left[kSide<T> * (kDepth + 1)];
  T right[kSide<T> * (kDepth + 1)];
  T weights[kSide<T>][kSide<T> + 1];
};

/// A batch of matrices [batch..., rows, columns] of any strides.
struct MatrixView {
  MatrixView() = default;
  explicit MatrixView(const Array& x)
      : data(x.data()),
        dtype(x.dtype()),
        batch_dims(x.ndim() - 2),
        rows(x.size(-2)),
        columns(x.size(-1)),
        row_stride(x.stride(-2)),
        column_stride(x.stride(-1)) {
    for (int d = 0; d < batch_dims; ++d) {
      batch_size[d] = x.size(batch_dims - 1 - d);
      batch_stride[d] = x.stride(batch_dims - 1 - d);
    }
  }

  /// The offset of a matrix in elements.
  __device__ std::int64_t offset(std::int64_t batch) const {
    std::int64_t offset = 0;
#pragma unroll  // so that sizes and strides stay in constant memory
    for (int d = 0; d < kMaxDims; ++d) {
      if (d >= batch_dims) break;
      offset += batch % batch_size[d] * batch_stride[d];
      batch /= batch_size[d];
    }
    return offset;
  }

  std::byte* data = nullptr;
  DType dtype = DType::f32;
  int batch_dims = 0;
  std::int64_t batch_size[kMaxDims] = {}, batch_stride[kMaxDims] = {};  // innermost first
  std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;
};

/// One matrix of a batch of elements S, with zeros outside.
template <class S>
struct MatrixOfBatch {
  using T = compute_t<S>;

  __device__ MatrixOfBatch(const MatrixView& view, std::int64_t batch)
      : start(reinterpret_cast<const S*>(view.data) + view.offset(batch)),
        rows(view.rows),
        columns(view.columns),
        row_stride(view.row_stride),
        column_stride(view.column_stride) {}

  __device__ T at(std::int64_t i, std::int64_t j) const {
    if (i >= rows || j >= columns) return T(0);
    return convert_on_device<T>(start[i * row_stride + j * column_stride]);
  }
  /// The element as it is stored.
  __device__ S stored_at(std::int64_t i, std::int64_t j) const {
    return i >= rows || j >= columns ? S() : start[i * row_stride + j * column_stride];
  }

  const S* start;
  std::int64_t rows, columns, row_stride, column_stride;
};

/// The operands as kernels take them, by value.
struct Operands {
  explicit Operands(const AttentionOperands& from)
      : query(from.query),
        key(from.key),
        value(from.value),
        has_mask(from.mask.defined()),
        rule(from.rule),
        dropout(from.rule, from.query.size(-2), from.key.size(-2)) {
    if (has_mask) mask = MatrixView(from.mask);
    for (int d = 0; d + 2 < from.query.ndim(); ++d) batches *= from.query.size(d);
  }

  MatrixView query, key, value, mask;
  bool has_mask;
  AttentionRule rule;
  AttentionDropout dropout;
  std::int64_t batches = 1;
};

/// The tile of a block: its rows are queries or keys.
template <class T>
struct Place {
  __device__ Place(std::int64_t rows, std::int64_t columns) {
    const std::int64_t across = tiles(columns), down = tiles(rows);
    std::int64_t index = blockIdx.x;
    first_column = index % across * kSide<T>;
    index /= across;
    first_row = index % down * kSide<T>;
    batch = index / down;
  }

  // At least one, for the results of an operand without columns.
  __host__ __device__ static std::int64_t tiles(std::int64_t n) {
    return n <= kSide<T> ? 1 : (n + kSide<T> - 1) / kSide<T>;
  }
  static unsigned blocks(std::int64_t batches, std::int64_t rows, std::int64_t columns) {
    return rows == 0 ? 0 : static_cast<unsigned>(batches * tiles(rows) * tiles(columns));
  }

  std::int64_t batch, first_row, first_column;
};

/// Loads a tile of `rows` x `width` elements from [i, j] on into shared memory, with rows padded by
/// one element.
template <class S, class T>
__device__ void load_tile(const MatrixOfBatch<S>& x, std::int64_t i, std::int64_t j, int rows,
                          int width, T* tile) {
  for (int at = static_cast<int>(threadIdx.x); at < rows * width; at += kThreadsOfTile) {
    tile[at / width * (width + 1) + at % width] = x.at(i + at / width, j + at % width);
  }
}

/// Calls f(i, j, query, key) for the elements of this thread.
template <class T, class F>
__device__ void each_score(std::int64_t first_query, std::int64_t first_key, const F& f) {
#pragma unroll
  for (int i = 0; i < kEach<T>; ++i) {
#pragma unroll
    for (int j = 0; j < kEach<T>; ++j) f(i, j, first_query + row(i), first_key + column(j));
  }
}

template <class T>
__device__ void store_weights(const Part<T>& weights, SharedTiles<T>& shared) {
#pragma unroll
  for (int i = 0; i < kEach<T>; ++i) {
#pragma unroll
    for (int j = 0; j < kEach<T>; ++j) shared.weights[row(i)][column(j)] = weights[i][j];
  }
}

/// The dropout with the key of this launch: a replay of a graph takes another one than the capture.
inline __device__ AttentionDropout dropout_of(const Operands& op) {
  AttentionDropout drop = op.dropout;
  drop.resolve_key();
  return drop;
}

/// Combines the values of the threads that share a row.
template <class T, class F>
__device__ T over_row(T x, const F& combine) {
#pragma unroll
  for (int distance = 1; distance < kAcross; distance *= 2) {
    x = combine(x, __shfl_xor_sync(0xffffffff, x, distance));
  }
  return x;
}

/// The end of the keys that a query before `end_of_queries` may see.
inline __device__ std::int64_t end_of_keys(const Operands& op, std::int64_t end_of_queries) {
  const bool some = op.rule.is_causal && end_of_queries < op.key.rows;
  return some ? end_of_queries : op.key.rows;
}

/// Calls f with the stored type of a floating dtype.
template <class F>
void with_floating_type(DType dtype, const F& f) {
  if (dtype == DType::f64) return f(std::type_identity<double>{});
  if (dtype == DType::f32) return f(std::type_identity<float>{});
  if (dtype == DType::f16) return f(std::type_identity<Half>{});
  f(std::type_identity<BFloat16>{});
}

}  // namespace halfgrad::detail::attention
