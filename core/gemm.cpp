#include <halfgrad/core/gemm.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <halfgrad/core/convert.h>
#include <halfgrad/core/cuda/gemm.h>
#ifdef HALFGRAD_BLAS
#include <halfgrad/core/gemm_blas.h>
#endif
#include <halfgrad/core/gemm_kernel.h>
#include <halfgrad/core/gemm_operand.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad {
namespace {

using namespace detail;

// A strip of B this deep stays in the first-level cache, a tile's rows of A in the second; up to
// kFewRows of those, a C that is wider still makes one row of tiles.
constexpr int64_t kDepthBlock = 288;
constexpr int64_t kTileRows = 96, kFewRows = 144;
static_assert(kTileRows % kStripRows == 0);

// A range of rows and columns of C, of whole strips but at the edges.
struct Tile {
  int64_t row, rows, col, cols;
};

// Cuts C into enough tiles to keep threads busy.
class Tiling {
 public:
  Tiling(int64_t rows, int64_t cols, int64_t strip_columns) : rows_(rows), cols_(cols) {
    down_ = rows <= std::min(kFewRows, cols) ? 1 : divide_up(rows, kTileRows);
    height_ = round_up(divide_up(rows, down_), kStripRows);
    width_ = 32 * strip_columns;
    while (width_ > 2 * strip_columns && down_ * divide_up(cols, width_) < kEnough) width_ /= 2;
    across_ = divide_up(cols, width_);
  }

  int64_t count() const { return down_ * across_; }
  bool one_row() const { return down_ == 1; }
  int64_t area() const { return height_ * std::min(width_, cols_); }

  Tile operator[](int64_t index) const {
    const int64_t row = index / across_ * height_, col = index % across_ * width_;
    return {row, std::min(height_, rows_ - row), col, std::min(width_, cols_ - col)};
  }

 private:
  static constexpr int64_t kEnough = 16;

  int64_t rows_, cols_, down_, across_, height_, width_;
};

// A as the kernel reads it: the strip from `row` on begins at data + row * stride.
template <class T>
struct Strips {
  const T* data;
  int64_t stride, row_stride, depth_stride;
};

// B, and its strips if they are packed beforehand, for several rows of tiles. Else the one tile
// that needs a strip packs it itself, a block at a time: it lies in the nearest cache then, and no
// thread waits for another's packing.
template <class T>
struct PackedOperand {
  Operand<T> matrix;
  const T* strips;

  const T* strip(int64_t col, int64_t columns, int64_t k, int64_t block, T* scratch) const {
    if (strips != nullptr) return strips + col * matrix.rows + k * kStripColumns<T>;
    pack_b_strip(matrix, col, columns, k, block, scratch);
    return scratch;
  }
};

template <class T>
void multiply_tile(const Tile& tile, const Strips<T>& a, const PackedOperand<T>& b,
                   const Destination<T>& c) {
  alignas(64) T scratch[kDepthBlock * kStripColumns<T>];
  const int64_t depth = b.matrix.rows;
  const int64_t blocks = std::max<int64_t>(1, divide_up(depth, kDepthBlock));
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t k = i * depth / blocks, block = (i + 1) * depth / blocks - k;
    const bool first = i == 0, last = i + 1 == blocks;
    for (int64_t col = tile.col; col < tile.col + tile.cols; col += kStripColumns<T>) {
      const int64_t columns = std::min<int64_t>(kStripColumns<T>, tile.col + tile.cols - col);
      const T* b_strip = b.strip(col, columns, k, block, scratch);
      for (int64_t row = tile.row; row < tile.row + tile.rows; row += kStripRows) {
        const int64_t rows = std::min<int64_t>(kStripRows, tile.row + tile.rows - row);
        const T* a_strip = a.data + row * a.stride + k * a.depth_stride;
        multiply_strips_of<T>(rows)(block, a_strip, a.row_stride, a.depth_stride, b_strip,
                                    {.out = c.out + row * c.row_stride + col,
                                     .row_stride = c.row_stride,
                                     .alpha = c.alpha,
                                     .beta = first ? c.beta : T(1),
                                     .bias = last && c.bias != nullptr ? c.bias + col : nullptr},
                                    columns);
      }
    }
  }
}

// C = tile of `sum` + beta C, rounded to C's dtype.
template <class T>
void finish_tile(const Tile& tile, T* sum, T beta, const MutableMatrixView& c) {
  visit(c.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    for (int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      T* in = sum + row * c.cols + tile.col;
      S* out = static_cast<S*>(c.data) + row * c.row_stride + tile.col * c.col_stride;
      if (beta != T(0)) {
        for (int64_t i = 0; i < tile.cols; ++i)
          in[i] += beta * element<S, T>(out[i * c.col_stride]);
      }
      if constexpr (is_reduced(dtype_of<S>()) && std::is_same_v<T, float>) {
        if (c.col_stride == 1) {
          narrow(in, out, tile.cols);
          continue;
        }
      }
      for (int64_t i = 0; i < tile.cols; ++i) {
        out[i * c.col_stride] = static_cast<S>(static_cast<compute_t<S>>(in[i]));
      }
    }
  });
}

template <class View>
View transposed(View view) {
  std::swap(view.rows, view.cols);
  std::swap(view.row_stride, view.col_stride);
  return view;
}

template <class T>
void multiply(double alpha, const MatrixView& a, const MatrixView& b, double beta,
              const MutableMatrixView& c, const RowBias& bias) {
  if (c.col_stride != 1 && c.row_stride == 1 && bias.data == nullptr) {
    return multiply<T>(alpha, transposed(b), transposed(a), beta, transposed(c), bias);
  }
  const int64_t m = c.rows, n = c.cols, depth = a.cols;
  const bool packs_a = a.col_stride != 1 && a.row_stride == 1;
  const bool direct = c.dtype == dtype_of<T>() && c.col_stride == 1;
  const int64_t a_copy = in_place<T>(a) ? 0 : m * depth, b_copy = in_place<T>(b) ? 0 : depth * n;
  const int64_t a_packed = packs_a ? round_up(m, kStripRows) * depth : 0;
  const Tiling tiles(m, n, kStripColumns<T>);
  const int64_t b_packed = tiles.one_row() ? 0 : round_up(n, kStripColumns<T>) * depth;
  const int64_t bias_copy = bias.data == nullptr ? 0 : n, c_copy = direct ? 0 : m * n;
  Scratch<T> scratch({a_copy, b_copy, a_packed, b_packed, bias_copy, c_copy});

  const Operand<T> wide_a = accumulating<T>(a, scratch.take(a_copy));
  const Operand<T> wide_b = accumulating<T>(b, scratch.take(b_copy));
  Destination<T> to{.out = static_cast<T*>(c.data),
                    .row_stride = c.row_stride,
                    .alpha = static_cast<T>(alpha),
                    .beta = static_cast<T>(beta),
                    .bias = nullptr};
  if (bias.data != nullptr) {
    T* const wide_bias = scratch.take(bias_copy);
    visit(bias.dtype, [&](auto tag) {
      using S = typename decltype(tag)::type;
      copy_line(static_cast<const S*>(bias.data), 1, wide_bias, n);
    });
    to.bias = wide_bias;
  }
  if (!direct) {
    to.out = scratch.take(c_copy);
    to.row_stride = n;
    to.beta = T(0);
  }

#ifdef HALFGRAD_BLAS
  if (multiply_by_blas<T>(to.alpha, wide_a, wide_b, to.beta, to.out, to.row_stride)) {
    for (int64_t row = 0; to.bias != nullptr && row < m; ++row) {
      for (int64_t i = 0; i < n; ++i) to.out[row * to.row_stride + i] += to.bias[i];
    }
    if (!direct) finish_tile({0, m, 0, n}, to.out, static_cast<T>(beta), c);
    return;
  }
#endif

  Strips<T> strips{wide_a.data, wide_a.row_stride, wide_a.row_stride, 1};
  if (packs_a) {
    T* packed = scratch.take(a_packed);
    pack<kStripRows>(wide_a.transposed(), packed);
    strips = {packed, depth, 1, kStripRows};
  }
  PackedOperand<T> packed_b{wide_b, nullptr};
  if (!tiles.one_row()) {
    T* const packed = scratch.take(b_packed);
    pack_b(wide_b, packed);
    packed_b.strips = packed;
  }

  const int64_t grain = grain_of(tiles.area() * depth, kProducts);
  parallel_for(0, tiles.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const Tile tile = tiles[index];
      multiply_tile(tile, strips, packed_b, to);
      if (!direct) finish_tile(tile, to.out, static_cast<T>(beta), c);
    }
  });
}

std::string shape(int64_t rows, int64_t cols) {
  return "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
}

void check(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
           const RowBias& bias) {
  if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols) {
    throw std::invalid_argument("gemm: expected shapes (m, k), (k, n) and (m, n), got " +
                                shape(a.rows, a.cols) + ", " + shape(b.rows, b.cols) + " and " +
                                shape(c.rows, c.cols));
  }
  if (a.device != c.device || b.device != c.device) {
    throw std::invalid_argument("gemm: expected matrices on one device, got " + a.device.str() +
                                ", " + b.device.str() + " and " + c.device.str());
  }
  const bool widens = c.dtype == kFloat32 && is_reduced(a.dtype);
  if (!is_floating_point(a.dtype) || b.dtype != a.dtype || (c.dtype != a.dtype && !widens)) {
    throw std::invalid_argument(
        "gemm: expected one floating dtype, or a float32 result of 16-bit operands, got " +
        std::string(name(a.dtype)) + ", " + std::string(name(b.dtype)) + " and " +
        std::string(name(c.dtype)));
  }
  if (bias.data != nullptr && !is_floating_point(bias.dtype)) {
    throw std::invalid_argument("gemm: expected a floating bias, got " +
                                std::string(name(bias.dtype)));
  }
}

// The stride along a dimension of size 1 means nothing: 1 is the best it can be.
template <class View>
View normalized(View view) {
  if (view.rows == 1) view.row_stride = 1;
  if (view.cols == 1) view.col_stride = 1;
  return view;
}

void multiply_checked(double alpha, const MatrixView& a, const MatrixView& b, double beta,
                      const MutableMatrixView& c, const RowBias& bias) {
  if (c.rows == 0 || c.cols == 0) return;
  if (a.dtype == kFloat64) {
    multiply<double>(alpha, normalized(a), normalized(b), beta, normalized(c), bias);
  } else {
    multiply<float>(alpha, normalized(a), normalized(b), beta, normalized(c), bias);
  }
}

// The same matrix, `offset` elements further on.
MatrixView advanced(MatrixView view, int64_t offset) {
  view.data = static_cast<const char*>(view.data) + offset * item_size(view.dtype);
  return view;
}
MutableMatrixView advanced(MutableMatrixView view, int64_t offset) {
  view.data = static_cast<char*>(view.data) + offset * item_size(view.dtype);
  return view;
}

std::atomic<GemmBackend> chosen_backend{GemmBackend::cublaslt};
std::atomic<bool> tf32{false}, fp16_reduction{false};

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

void gemm_batched(int64_t count, double alpha, const MatrixView& a, int64_t a_stride,
                  const MatrixView& b, int64_t b_stride, double beta, const MutableMatrixView& c,
                  int64_t c_stride, const RowBias& bias) {
  check(a, b, c, bias);
  if (c.device.is_cuda()) {
    gemm_on_cuda({count, alpha, a, a_stride, b, b_stride, beta, c, c_stride, {.bias = bias}});
    return;
  }
  const auto multiply_range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      multiply_checked(alpha, advanced(a, i * a_stride), advanced(b, i * b_stride), beta,
                       advanced(c, i * c_stride), bias);
    }
  };
  constexpr int64_t kParallelWithin = 32 * kProducts;
  const int64_t products = a.rows * a.cols * b.cols;
  if (products >= kParallelWithin) return multiply_range(0, count);
  parallel_for(0, count, grain_of(products, kProducts), multiply_range);
}

void set_gemm_backend(GemmBackend backend) { chosen_backend = backend; }
GemmBackend gemm_backend() { return chosen_backend; }

namespace backends::cuda::matmul {

void set_allow_tf32(bool allow) { tf32 = allow; }
bool allow_tf32() { return tf32; }
void set_allow_fp16_reduced_precision_reduction(bool allow) { fp16_reduction = allow; }
bool allow_fp16_reduced_precision_reduction() { return fp16_reduction; }

}  // namespace backends::cuda::matmul

}  // namespace halfgrad
