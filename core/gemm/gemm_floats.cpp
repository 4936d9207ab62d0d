#include <halfgrad/core/gemm/gemm_floats.h>

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/gemm/gemm_amx.h>
#include <halfgrad/core/gemm/gemm_bf16.h>
#include <halfgrad/core/gemm/gemm_column.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_library.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_row.h>
#include <halfgrad/core/gemm/gemm_tile.h>
#include <halfgrad/core/numbers/convert.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

// C = alpha A B + beta C + bias.
struct Product {
  double alpha;
  MatrixView a, b;
  double beta;
  MutableMatrixView c;
  RowBias bias;
  std::int64_t bias_stride = 1;
  bool is_transposed = false;
};

template <class View>
View transposed(const View& view) {
  return {view.data,       view.dtype,      view.cols,  view.rows,
          view.col_stride, view.row_stride, view.device};
}

// C^T = alpha B^T A^T + beta C^T + bias. A bias only fits if C has one column, whose elements then
// share one element of it: hence the bias_stride of 0.
Product transposed(const Product& p) {
  return {.alpha = p.alpha,
          .a = transposed(p.b),
          .b = transposed(p.a),
          .beta = p.beta,
          .c = transposed(p.c),
          .bias = p.bias,
          .bias_stride = 0,
          .is_transposed = !p.is_transposed};
}

// The output buffer: C's own memory, or a copy of C in T if its dtype or layout needs one.
template <class T>
struct Result {
  Destination<T> to;
  const MutableMatrixView& c;
  bool direct;  // no copy

  // Calls f(tile), which computes a tile of `to`, and converts the copy before and after.
  template <class F>
  void compute(const Tile& tile, const F& f) const {
    if (!direct && to.beta != T(0)) widen_tile(tile, c, to.out);
    f(tile);
    if (!direct) narrow_tile(tile, to.out, c);
  }
};

template <class T>
bool is_direct(const MutableMatrixView& c) {
  return c.dtype == dtype_of<T>() && c.col_stride == 1;
}

template <class T>
const T* accumulating_bias(const Product& p, T* copy) {
  if (p.bias.data == nullptr) return nullptr;
  visit(p.bias.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    copy_strided(static_cast<const S*>(p.bias.data), p.bias_stride, copy, p.c.cols);
  });
  return copy;
}

// Takes the copies that the bias and C need from `scratch`, in this order.
template <class T>
Result<T> result_of(const Product& p, Scratch<T>& scratch, std::int64_t bias_copy,
                    std::int64_t c_copy) {
  Destination<T> to{.out = static_cast<T*>(p.c.data),
                    .row_stride = p.c.row_stride,
                    .alpha = static_cast<T>(p.alpha),
                    .beta = static_cast<T>(p.beta),
                    .bias = accumulating_bias<T>(p, scratch.take(bias_copy))};
  if (!is_direct<T>(p.c)) {
    to.out = scratch.take(c_copy);
    to.row_stride = p.c.cols;
  }
  return {to, p.c, is_direct<T>(p.c)};
}

template <class T>
bool taken_by_library(const Operand<T>& a, const Operand<T>& b, const Result<T>& result) {
  if constexpr (kLibraryMultiplies) {
    const Destination<T>& to = result.to;
    if (!library_takes(a, b, to.row_stride)) return false;
    result.compute({0, a.rows, 0, b.cols}, [&](const Tile& whole) {
      multiply_by_library(to.alpha, a, b, to.beta, to.out, to.row_stride);
      for (std::int64_t row = 0; to.bias != nullptr && row < whole.rows; ++row) {
        for (std::int64_t i = 0; i < whole.cols; ++i) to.out[row * to.row_stride + i] += to.bias[i];
      }
    });
  }
  return kLibraryMultiplies;
}

// The order in which an element of C is summed.
enum class Order : std::uint8_t {
  by_depth,     // one product after the other
  partial_sums  // in kPartialSums sums: see gemm_column.h
};

// Computes a C of one row: a row x of A times B, whose elements are stored as S. Each element of B
// is used once, so B is not packed, and only copied if neither of its strides is 1.
template <class S, class T = compute_t<S>>
void multiply_one_row(const Product& p, Order order) {
  const std::int64_t n = p.c.cols, depth = p.a.cols;
  const std::int64_t x_copy = std::is_same_v<S, T> && p.a.col_stride == 1 ? 0 : depth,
                     b_copy = in_place<S>(p.b) ? 0 : depth * n;
  const std::int64_t bias_copy = p.bias.data == nullptr ? 0 : n, c_copy = is_direct<T>(p.c) ? 0 : n;
  Scratch<T> scratch(x_copy, b_copy, bias_copy, c_copy);
  const T* const x = contiguous_row<S>(p.a, scratch.take(x_copy));
  T* const wide_b = scratch.take(b_copy);
  const Result<T> result = result_of(p, scratch, bias_copy, c_copy);

  const auto multiply = [&](const auto& b) {
    const bool partial = order == Order::partial_sums;
    const bool long_rows = !partial && b.col_stride == 1;
    const std::int64_t grain = long_rows ? row_grain<T>(depth, n) : column_grain<T>(depth);
    parallel_for(0, n, grain, [&](std::int64_t begin, std::int64_t end) {
      result.compute({0, 1, begin, end - begin}, [&](const Tile&) {
        if (partial) return multiply_column(x, b, begin, end, result.to);
        multiply_row(x, b, begin, end, result.to);
      });
    });
  };
  if (in_place<S>(p.b)) {
    const auto* const data = static_cast<const S*>(p.b.data);
    multiply(Operand<S>{data, depth, n, p.b.row_stride, p.b.col_stride});
  } else {
    multiply(accumulating<T>(p.b, wide_b));
  }
}

Bf16Operand bf16_operand(const MatrixView& view, bool by_rows) {
  const auto* const data = static_cast<const std::uint16_t*>(view.data);
  return by_rows ? Bf16Operand{data, view.rows, view.row_stride, view.col_stride}
                 : Bf16Operand{data, view.cols, view.col_stride, view.row_stride};
}

void multiply_bf16(const Product& p) {
  const MutableMatrixView& c = p.c;
  const PairBlocks blocks(p.a.cols);
  const std::int64_t a_size = PackedPairs<kDotRows>::size(c.rows, blocks),
                     b_size = PackedPairs<kDotColumns>::size(c.cols, blocks),
                     bias_size = p.bias.data == nullptr ? 0 : c.cols;
  Scratch<std::uint32_t> pairs(a_size, b_size);
  Scratch<float> bias_copy(bias_size);
  const PackedPairs<kDotRows> packed_a(pairs.take(a_size), blocks);
  const PackedPairs<kDotColumns> packed_b(pairs.take(b_size), blocks);
  pack_pairs(bf16_operand(p.a, true), bf16_operand(p.b, false), blocks, packed_a, packed_b);
  const SumsEpilogue epilogue{static_cast<float>(p.alpha), static_cast<float>(p.beta),
                              accumulating_bias<float>(p, bias_copy.take(bias_size))};
  const Tiling tiles(c.rows, c.cols, kDotRows, kDotColumns);
  const std::int64_t grain = grain_of(tiles.area() * p.a.cols / 2, kMultiplyAddsPerChunk);
  parallel_for(0, tiles.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      multiply_pairs(tiles[index], blocks, packed_a, packed_b, epilogue, c);
    }
  });
}

template <class S>
Operand<S> stored_operand(const MatrixView& view) {
  return {static_cast<const S*>(view.data), view.rows, view.cols, view.row_stride, view.col_stride};
}

template <class S>
void multiply_amx(const Product& p) {
  const std::int64_t bias_size = p.bias.data == nullptr ? 0 : p.c.cols;
  Scratch<float> bias_copy(bias_size);
  const SumsEpilogue epilogue{static_cast<float>(p.alpha), static_cast<float>(p.beta),
                              accumulating_bias<float>(p, bias_copy.take(bias_size))};
  multiply_by_amx(stored_operand<S>(p.a), stored_operand<S>(p.b), epilogue, p.c, p.is_transposed);
}

template <class T>
void multiply_tiles(const Product& p) {
  const auto& [alpha, a, b, beta, c, bias, bias_stride, is_transposed] = p;
  const std::int64_t m = c.rows, n = c.cols, depth = a.cols;
  const std::int64_t a_copy = in_place<T>(a) ? 0 : m * depth,
                     b_copy = in_place<T>(b) ? 0 : depth * n;
  const bool a_by_columns = a.col_stride != 1 && a.row_stride == 1;
  const bool packs_a = a_by_columns || share_cache_set<T>(a_copy == 0 ? a.row_stride : depth, m, n);
  const std::int64_t a_packed = packs_a ? round_up(m, kStripRows) * depth : 0;
  const Tiling tiles(m, n, kStripRows, kStripColumns<T>);
  const std::int64_t b_packed = tiles.one_row() ? 0 : round_up(n, kStripColumns<T>) * depth;
  const std::int64_t bias_copy = bias.data == nullptr ? 0 : n, c_copy = is_direct<T>(c) ? 0 : m * n;
  Scratch<T> scratch(a_copy, b_copy, a_packed, b_packed, bias_copy, c_copy);

  const Operand<T> wide_a = accumulating<T>(a, scratch.take(a_copy));
  const Operand<T> wide_b = accumulating<T>(b, scratch.take(b_copy));
  const Result<T> result = result_of(p, scratch, bias_copy, c_copy);
  if (taken_by_library(wide_a, wide_b, result)) return;

  Strips<T> strips{wide_a.data, wide_a.row_stride, false};
  if (packs_a) {
    T* packed = scratch.take(a_packed);
    pack<kStripRows>(wide_a.transposed(), packed);
    strips = {packed, depth, true};
  }
  PackedOperand<T> packed_b{wide_b, nullptr};
  if (!tiles.one_row()) {
    T* const packed = scratch.take(b_packed);
    pack<kStripColumns<T>>(wide_b, packed);
    packed_b.strips = packed;
  }

  const std::int64_t grain = grain_of(tiles.area() * depth, kMultiplyAddsPerChunk);
  parallel_for(0, tiles.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      result.compute(tiles[index],
                     [&](const Tile& tile) { multiply_tile(tile, strips, packed_b, result.to); });
    }
  });
}

// Chooses the kernel. S is the dtype of A and B.
template <class S>
void multiply(const Product& p) {
  using T = compute_t<S>;
  // A C of one column: the transposed product has one row.
  if (!kLibraryMultiplies && p.c.cols == 1) {
    const Product row = transposed(p);
    if (p.a.col_stride == 1) return multiply_one_row<S>(row, Order::partial_sums);
    if (p.c.rows > 1) return multiply<S>(row);
  }
  // A C with contiguous columns: the transposed product has contiguous rows, which kernels store.
  if (p.c.rows > 1 && p.c.row_stride == 1 && p.c.col_stride != 1 && p.bias.data == nullptr) {
    return multiply<S>(transposed(p));
  }
  if constexpr (is_reduced(dtype_of<S>())) {
    if (uses_amx(dtype_of<S>())) return multiply_amx<S>(p);
  }
  if (!kLibraryMultiplies && p.c.rows == 1) return multiply_one_row<S>(p, Order::by_depth);
  if (std::is_same_v<S, BFloat16> && uses_bf16_dot()) return multiply_bf16(p);
  multiply_tiles<T>(p);
}

// Sets the stride of a dimension of size 1, which is never used, to 1: unit strides are fast.
template <class View>
View normalized(const View& view) {
  return {view.data,
          view.dtype,
          view.rows,
          view.cols,
          view.rows == 1 ? 1 : view.row_stride,
          view.cols == 1 ? 1 : view.col_stride,
          view.device};
}

}  // namespace

void multiply_floats(double alpha, const MatrixView& a, const MatrixView& b, double beta,
                     const MutableMatrixView& c, const RowBias& bias) {
  const Product product{alpha, normalized(a), normalized(b), beta, normalized(c), bias};
  switch (a.dtype) {
    case kFloat64:
      return multiply<double>(product);
    case kFloat16:
      return multiply<Half>(product);
    case kBFloat16:
      return multiply<BFloat16>(product);
    default:
      return multiply<float>(product);
  }
}

}  // namespace halfgrad::detail
