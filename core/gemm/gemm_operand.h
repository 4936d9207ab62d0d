#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <halfgrad/core/array.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/numbers/convert.h>
#include <halfgrad/core/thread_pool.h>

// Prepares A and B for gemm's kernel: widens or copies them if needed, and packs them into strips.
namespace halfgrad::detail {

constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }
constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) { return divide_up(n, to) * to; }

// Work that takes some microseconds and so is worth another thread: elements copied, multiply-adds.
inline constexpr std::int64_t kCopiesPerChunk = 1 << 14, kMultiplyAddsPerChunk = 1 << 17;
// Returns how many items of a given cost make a chunk.
inline std::int64_t grain_of(std::int64_t cost_of_one, std::int64_t cost_of_chunk) {
  return std::max<std::int64_t>(1, cost_of_chunk / std::max<std::int64_t>(1, cost_of_one));
}

// Buffers for one product, each aligned to a cache line. They come from the allocator, so that its
// statistics and its limit include them. Most products of a vector need none.
template <class T>
class Scratch {
 public:
  template <class... Counts>
  explicit Scratch(Counts... counts) {
    const bool is_empty = ((counts == 0) && ...);
    if (is_empty) return;
    memory_.emplace(Device(), static_cast<size_t>((aligned(counts) + ...)) * sizeof(T));
    next_ = reinterpret_cast<T*>(memory_->data());
  }

  // Returns null for 0 elements.
  T* take(std::int64_t count) {
    return count == 0 ? nullptr : std::exchange(next_, next_ + aligned(count));
  }

 private:
  static std::int64_t aligned(std::int64_t count) { return round_up(count, 64 / sizeof(T)); }

  std::optional<Storage> memory_;
  T* next_ = nullptr;
};

// A matrix of elements of one type: the accumulating type, if nothing else is said.
template <class T>
struct Operand {
  const T* data;
  std::int64_t rows, cols, row_stride, col_stride;

  Operand transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

template <class S, class T>
T element(const S& stored) {
  return static_cast<T>(static_cast<compute_t<S>>(stored));
}

template <class S, class T>
void copy_strided(const S* in, std::int64_t stride, T* out, std::int64_t n) {
  if constexpr (is_reduced(dtype_of<S>()) && std::is_same_v<T, float>) {
    if (stride == 1) return widen(in, out, n);
  }
  for (std::int64_t i = 0; i < n; ++i) out[i] = element<S, T>(in[i * stride]);
}

template <class T>
bool in_place(const MatrixView& view) {
  return view.dtype == dtype_of<T>() && (view.row_stride == 1 || view.col_stride == 1);
}

// Returns the matrix in T with a unit stride: itself if it has both, else a copy in `scratch`.
template <class T>
Operand<T> accumulating(const MatrixView& view, T* scratch) {
  const auto& [data, dtype, rows, cols, row_stride, col_stride, device] = view;
  if (in_place<T>(view)) {
    return {static_cast<const T*>(data), rows, cols, row_stride, col_stride};
  }
  const bool by_columns = row_stride == 1 && col_stride != 1;
  const std::int64_t outer = by_columns ? cols : rows, inner = by_columns ? rows : cols;
  const std::int64_t outer_stride = by_columns ? col_stride : row_stride;
  const std::int64_t inner_stride = by_columns ? row_stride : col_stride;
  visit(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const S* in = static_cast<const S*>(view.data);
    parallel_for(0, inner > 0 ? outer : 0, grain_of(inner, kCopiesPerChunk),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t i = first; i < last; ++i) {
                     copy_strided(in + i * outer_stride, inner_stride, scratch + i * inner, inner);
                   }
                 });
  });
  return by_columns ? Operand<T>{scratch, rows, cols, 1, rows}
                    : Operand<T>{scratch, rows, cols, cols, 1};
}

// Returns a row of one matrix in T, contiguous: its own memory if that is so, else a copy.
template <class S, class T>
const T* contiguous_row(const MatrixView& row, T* copy) {
  if constexpr (std::is_same_v<S, T>) {
    if (row.col_stride == 1) return static_cast<const T*>(row.data);
  }
  copy_strided(static_cast<const S*>(row.data), row.col_stride, copy, row.cols);
  return copy;
}

// Packs rows [k, k + block) of at most Width columns into one strip.
template <int Width, class T>
void pack_strip(const Operand<T>& operand, std::int64_t col, std::int64_t columns, std::int64_t k,
                std::int64_t block, T* packed) {
  if (block == 0) return;  // a matrix without rows may have no memory
  const T* const from = operand.data + k * operand.row_stride + col * operand.col_stride;
  if (operand.col_stride == 1) {
    pack_rows<Width>(from, operand.row_stride, columns, 0, block, block, packed);
  } else {
    pack_strip_transposed<Width>(from, operand.col_stride, columns, block, packed);
  }
}

// Packs an operand with one row for each k into strips of Width columns.
template <int Width, class T>
void pack(const Operand<T>& operand, T* packed) {
  const std::int64_t depth = operand.rows, extent = operand.cols;
  if (operand.col_stride == 1) {
    const std::int64_t grain = round_up(grain_of(extent, kCopiesPerChunk), 16);
    parallel_for(0, depth, grain, [&](std::int64_t begin, std::int64_t end) {
      pack_rows<Width>(operand.data, operand.row_stride, extent, begin, end, depth, packed);
    });
    return;
  }
  const std::int64_t grain = grain_of(depth * Width, kCopiesPerChunk);
  parallel_for(0, divide_up(extent, Width), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t col = begin * Width; col < std::min(end * Width, extent); col += Width) {
      pack_strip<Width>(operand, col, std::min<std::int64_t>(Width, extent - col), 0, depth,
                        packed + col * depth);
    }
  });
}

// Returns whether all rows of a strip of A share one set of the L1 cache: it has 64 sets of 64-byte
// lines, a set holds 8 or 12 lines, and B needs some of them. Packing such an A made layers 1,024
// wide 10 % faster, if several strips of B read it.
template <class T>
bool share_cache_set(std::int64_t row_stride, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kPeriod = 64 * 64 / sizeof(T);
  return row_stride % kPeriod == 0 && rows >= kStripRows && cols >= 4 * kStripColumns<T>;
}

}  // namespace halfgrad::detail
