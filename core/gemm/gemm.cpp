#include <halfgrad/core/gemm.h>

#include <atomic>
#include <string>
#include <type_traits>
#include <utility>

#include <halfgrad/core/cuda/kernels/gemm.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/gemm/gemm_bf16.h>
#include <halfgrad/core/gemm/gemm_integers.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_library.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_row.h>
#include <halfgrad/core/gemm/gemm_tile.h>
#include <halfgrad/core/numbers/convert.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad {
namespace {

using namespace detail;

template <class View>
View transposed(View view) {
  std::swap(view.rows, view.cols);
  std::swap(view.row_stride, view.col_stride);
  return view;
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

template <class T>
const T* accumulating_bias(const RowBias& bias, std::int64_t stride, std::int64_t n, T* copy) {
  if (bias.data == nullptr) return nullptr;
  visit(bias.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    copy_strided(static_cast<const S*>(bias.data), stride, copy, n);
  });
  return copy;
}

template <class T>
void multiply_one_row(const Operand<T>& a, const Operand<T>& b, const Result<T>& result) {
  const std::int64_t grain = round_up(grain_of(a.cols, kMultiplyAddsPerChunk), kRowColumns<T>);
  parallel_for(0, b.cols, grain, [&](std::int64_t begin, std::int64_t end) {
    result.compute({0, 1, begin, end - begin},
                   [&](const Tile&) { multiply_row(a, b, begin, end, result.to); });
  });
}

Bf16Operand bf16_operand(const MatrixView& view, bool by_rows) {
  const auto* const data = static_cast<const std::uint16_t*>(view.data);
  return by_rows ? Bf16Operand{data, view.rows, view.row_stride, view.col_stride}
                 : Bf16Operand{data, view.cols, view.col_stride, view.row_stride};
}

void multiply_bf16(double alpha, const MatrixView& a, const MatrixView& b, double beta,
                   const MutableMatrixView& c, const RowBias& bias, std::int64_t bias_stride) {
  const PairBlocks blocks(a.cols);
  const std::int64_t a_size = PackedPairs<kDotRows>::size(c.rows, blocks),
                     b_size = PackedPairs<kDotColumns>::size(c.cols, blocks),
                     bias_size = bias.data == nullptr ? 0 : c.cols;
  Scratch<std::uint32_t> pairs({a_size, b_size});
  Scratch<float> bias_copy({bias_size});
  const PackedPairs<kDotRows> packed_a(pairs.take(a_size), blocks);
  const PackedPairs<kDotColumns> packed_b(pairs.take(b_size), blocks);
  pack_pairs(bf16_operand(a, true), bf16_operand(b, false), blocks, packed_a, packed_b);
  const Bf16Epilogue epilogue{
      static_cast<float>(alpha), static_cast<float>(beta),
      accumulating_bias<float>(bias, bias_stride, c.cols, bias_copy.take(bias_size))};
  const Tiling tiles(c.rows, c.cols, kDotRows, kDotColumns);
  const std::int64_t grain = grain_of(tiles.area() * a.cols / 2, kMultiplyAddsPerChunk);
  parallel_for(0, tiles.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      multiply_pairs(tiles[index], blocks, packed_a, packed_b, epilogue, c);
    }
  });
}

// A C of one column is computed as one row. Its elements share one element of the bias, hence the
// bias_stride of 0.
template <class T>
void multiply(double alpha, const MatrixView& a, const MatrixView& b, double beta,
              const MutableMatrixView& c, const RowBias& bias, std::int64_t bias_stride = 1) {
  const bool one_column = c.cols == 1 && c.rows > 1;
  if (one_column || (c.col_stride != 1 && c.row_stride == 1 && bias.data == nullptr)) {
    return multiply<T>(alpha, transposed(b), transposed(a), beta, transposed(c), bias, 0);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (a.dtype == kBFloat16 && uses_bf16_dot()) {
      return multiply_bf16(alpha, a, b, beta, c, bias, bias_stride);
    }
  }
  const std::int64_t m = c.rows, n = c.cols, depth = a.cols;
  const bool direct = c.dtype == dtype_of<T>() && c.col_stride == 1;
  const bool one_row = m == 1;
  const std::int64_t a_copy = in_place<T>(a) ? 0 : m * depth,
                     b_copy = in_place<T>(b) ? 0 : depth * n;
  const bool a_by_columns = a.col_stride != 1 && a.row_stride == 1;
  const bool packs_a =
      !one_row && (a_by_columns || share_cache_set<T>(a_copy == 0 ? a.row_stride : depth, m, n));
  const std::int64_t a_packed = packs_a ? round_up(m, kStripRows) * depth : 0;
  const Tiling tiles(m, n, kStripRows, kStripColumns<T>);
  const std::int64_t b_packed = tiles.one_row() ? 0 : round_up(n, kStripColumns<T>) * depth;
  const std::int64_t bias_copy = bias.data == nullptr ? 0 : n, c_copy = direct ? 0 : m * n;
  Scratch<T> scratch({a_copy, b_copy, a_packed, b_packed, bias_copy, c_copy});

  const Operand<T> wide_a = accumulating<T>(a, scratch.take(a_copy));
  const Operand<T> wide_b = accumulating<T>(b, scratch.take(b_copy));
  Destination<T> to{.out = static_cast<T*>(c.data),
                    .row_stride = c.row_stride,
                    .alpha = static_cast<T>(alpha),
                    .beta = static_cast<T>(beta),
                    .bias = accumulating_bias<T>(bias, bias_stride, n, scratch.take(bias_copy))};
  if (!direct) {
    to.out = scratch.take(c_copy);
    to.row_stride = n;
  }
  const Result<T> result{to, c, direct};
  if (taken_by_library(wide_a, wide_b, result)) return;

  if (one_row) return multiply_one_row(wide_a, wide_b, result);

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
                     [&](const Tile& tile) { multiply_tile(tile, strips, packed_b, to); });
    }
  });
}

std::string shape(std::int64_t rows, std::int64_t cols) {
  return "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
}

bool is_integer(DType dtype) { return !is_floating_point(dtype) && dtype != kBool; }

void check_integers(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                    const RowBias& bias) {
  const DType dtype = a.dtype;
  if (b.dtype != dtype || c.dtype != dtype) {
    fail("gemm", "expected one integer dtype, got {}, {} and {}", dtype, b.dtype, c.dtype);
  }
  if (bias.data != nullptr && bias.dtype != dtype) {
    fail("gemm", "expected a bias of the matrices' integer dtype {}, got {}", dtype, bias.dtype);
  }
  if (c.device.is_cuda()) fail("gemm", "expected floating matrices on a GPU, got {}", dtype);
}

std::int64_t truncated(double factor) {
  if (factor >= -0x1p63 && factor < 0x1p63) return static_cast<std::int64_t>(factor);
  fail("gemm", "expected alpha and beta that int64 can hold, for integer matrices, got {}", factor);
}

void check(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
           const RowBias& bias) {
  if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols) {
    fail("gemm", "expected shapes (m, k), (k, n) and (m, n), got {}, {} and {}",
         shape(a.rows, a.cols), shape(b.rows, b.cols), shape(c.rows, c.cols));
  }
  if (a.device != c.device || b.device != c.device) {
    fail("gemm", "expected matrices on one device, got {}, {} and {}", a.device, b.device,
         c.device);
  }
  if (is_integer(a.dtype)) return check_integers(a, b, c, bias);
  const bool widens = c.dtype == kFloat32 && is_reduced(a.dtype);
  if (!is_floating_point(a.dtype) || b.dtype != a.dtype || (c.dtype != a.dtype && !widens)) {
    fail("gemm",
         "expected one floating dtype, or a float32 result of 16-bit operands, got {}, {} and {}",
         a.dtype, b.dtype, c.dtype);
  }
  if (bias.data != nullptr && !is_floating_point(bias.dtype)) {
    fail("gemm", "expected a floating bias, got {}", bias.dtype);
  }
}

// Sets the stride of a dimension of size 1, which is never used, to 1: unit strides are fast.
template <class View>
View normalized(View view) {
  if (view.rows == 1) view.row_stride = 1;
  if (view.cols == 1) view.col_stride = 1;
  return view;
}

void multiply_checked(double alpha, const MatrixView& a, const MatrixView& b, double beta,
                      const MutableMatrixView& c, const RowBias& bias) {
  if (c.rows == 0 || c.cols == 0) return;
  if (is_integer(a.dtype)) {
    multiply_integers(truncated(alpha), a, b, truncated(beta), c, bias);
  } else if (a.dtype == kFloat64) {
    multiply<double>(alpha, normalized(a), normalized(b), beta, normalized(c), bias);
  } else {
    multiply<float>(alpha, normalized(a), normalized(b), beta, normalized(c), bias);
  }
}

// Returns the view moved by `offset` elements. An empty matrix may have no memory to move in.
template <class View>
View advanced(View view, std::int64_t offset) {
  using Byte = std::conditional_t<std::is_same_v<View, MatrixView>, const char, char>;
  if (view.data != nullptr) {
    view.data = static_cast<Byte*>(view.data) + offset * item_size(view.dtype);
  }
  return view;
}

std::atomic<GemmBackend> chosen_backend{GemmBackend::automatic};
std::atomic<bool> tf32{false}, fp16_reduction{false}, relu_mask{false};

}  // namespace

void gemm(double alpha, const MatrixView& a, const MatrixView& b, double beta,
          const MutableMatrixView& c, const RowBias& bias) {
  check(a, b, c, bias);
  if (c.device.is_cuda()) {
    gemm_on_cuda({1, alpha, a, 0, b, 0, beta, c, 0, {.bias = bias}});
    return;
  }
  multiply_checked(alpha, a, b, beta, c, bias);
}

void gemm_batched(std::int64_t count, double alpha, const MatrixView& a, std::int64_t a_stride,
                  const MatrixView& b, std::int64_t b_stride, double beta,
                  const MutableMatrixView& c, std::int64_t c_stride, const RowBias& bias) {
  check(a, b, c, bias);
  if (c.device.is_cuda()) {
    gemm_on_cuda({count, alpha, a, a_stride, b, b_stride, beta, c, c_stride, {.bias = bias}});
    return;
  }
  const auto multiply_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      multiply_checked(alpha, advanced(a, i * a_stride), advanced(b, i * b_stride), beta,
                       advanced(c, i * c_stride), bias);
    }
  };
  constexpr std::int64_t kParallelWithin = 32 * kMultiplyAddsPerChunk;
  const std::int64_t multiply_adds = a.rows * a.cols * b.cols;
  if (multiply_adds >= kParallelWithin) return multiply_range(0, count);
  parallel_for(0, count, grain_of(multiply_adds, kMultiplyAddsPerChunk), multiply_range);
}

void set_gemm_backend(GemmBackend backend) { chosen_backend = backend; }
GemmBackend gemm_backend() { return chosen_backend; }

namespace backends::cuda::matmul {

void set_allow_tf32(bool allow) { tf32 = allow; }
bool allow_tf32() { return tf32; }
void set_allow_fp16_reduced_precision_reduction(bool allow) { fp16_reduction = allow; }
bool allow_fp16_reduced_precision_reduction() { return fp16_reduction; }
void set_allow_relu_mask(bool allow) { relu_mask = allow; }
bool allow_relu_mask() { return relu_mask; }

}  // namespace backends::cuda::matmul

}  // namespace halfgrad
