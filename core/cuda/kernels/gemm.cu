// Translates a matrix product into the form that cuBLASLt, which is column-major, or a lesson
// takes. In column-major terms our row-major C = A B is
//
//     C^T = B^T A^T
//
// so the translation copies nothing, and a transposed view is a flag. Operands without a unit
// stride are copied. C goes through a temporary if it has no unit stride or needs a bias that
// cuBLASLt cannot add. gemm_small.cu sees each product first.

#include <halfgrad/core/cuda/kernels/gemm.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/kernels/gemm_cublaslt.h>
#include <halfgrad/core/cuda/kernels/gemm_small.h>
#include <halfgrad/core/cuda/lessons/gemm_lesson.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

constexpr int kThreads = 256;

// Batch, row and column of element i of a batch of matrices, in row-major order.
struct Position {
  __device__ Position(std::int64_t i, std::int64_t rows, std::int64_t cols) {
    batch = i / (rows * cols);
    row = (i - batch * rows * cols) / cols;
    col = i - (batch * rows + row) * cols;
  }
  std::int64_t batch, row, col;
};

__device__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class T>
__global__ void copy_matrices(T* out, MatrixView in, std::int64_t batch_stride, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const Position at(i, in.rows, in.cols);
  out[i] = static_cast<const T*>(
      in.data)[at.batch * batch_stride + at.row * in.row_stride + at.col * in.col_stride];
}

// The epilogue as a kernel of its own: c = sums + beta c + bias. `sums` is contiguous, in the
// accumulating type T.
template <class T>
__global__ void epilogue(MutableMatrixView c, std::int64_t batch_stride, const T* sums, T beta,
                         RowBias bias, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const Position at(i, c.rows, c.cols);
  auto* const out = static_cast<std::byte*>(c.data);
  const std::int64_t to = at.batch * batch_stride + at.row * c.row_stride + at.col * c.col_stride;
  T sum = sums[i];
  if (beta != T(0)) sum += beta * load<T>(out, c.dtype, to);
  if (bias.data != nullptr) {
    sum += load<T>(static_cast<const std::byte*>(bias.data), bias.dtype, at.col);
  }
  store(out, c.dtype, to, sum);
}

// Returns the transpose of a row-major view, or nothing if neither stride is 1 or rows overlap. The
// stride of a dimension of size 1 is not used.
std::optional<ColumnMajor> column_major(const MatrixView& m, std::int64_t batch_stride) {
  if ((m.col_stride == 1 || m.cols == 1) && (m.row_stride >= m.cols || m.rows == 1)) {
    const std::int64_t leading = m.rows == 1 ? m.cols : m.row_stride;
    return ColumnMajor{m.data, m.dtype, m.cols, m.rows, leading, batch_stride, false};
  }
  if ((m.row_stride == 1 || m.rows == 1) && (m.col_stride >= m.rows || m.cols == 1)) {
    const std::int64_t leading = m.cols == 1 ? m.rows : m.col_stride;
    return ColumnMajor{m.data, m.dtype, m.rows, m.cols, leading, batch_stride, true};
  }
  return std::nullopt;
}

// Copies the batch to contiguous memory on the current stream, and makes `m` and `batch_stride`
// those of the copy. If `batch_stride` is 0, all matrices are the same one.
Array make_contiguous(MatrixView& m, std::int64_t& batch_stride, std::int64_t count) {
  const std::int64_t matrices = batch_stride == 0 ? 1 : count;
  const Array copy = Array::empty({matrices, m.rows, m.cols}, m.dtype, m.device);
  const std::int64_t n = copy.numel();
  const Launch launch(copy, "gemm");
  const auto run = [&](auto* out) {
    copy_matrices<<<blocks_for(n, kThreads), kThreads, 0, launch.stream()>>>(out, m, batch_stride,
                                                                             n);
  };
  if (item_size(m.dtype) == 8) {
    run(copy.data_as<std::uint64_t>());
  } else if (item_size(m.dtype) == 4) {
    run(copy.data_as<std::uint32_t>());
  } else {
    run(copy.data_as<std::uint16_t>());
  }
  launch.check();
  m.data = copy.data();
  m.row_stride = m.cols;
  m.col_stride = 1;
  if (batch_stride != 0) batch_stride = m.rows * m.cols;
  return copy;
}

template <class View>
View transposed(View view) {
  std::swap(view.rows, view.cols);
  std::swap(view.row_stride, view.col_stride);
  return view;
}

GemmCall transposed(const GemmCall& call) {
  GemmCall t = call;
  t.a = transposed(call.b);
  t.b = transposed(call.a);
  t.c = transposed(call.c);
  std::swap(t.a_stride, t.b_stride);
  return t;
}

// cuBLASLt has an algorithm for every product without an epilogue, unless the GPU is too old for
// it.
[[noreturn]] void refuse(const ColumnMajorProduct& product) {
  fail<std::runtime_error>("gemm", "expected cuBLASLt to have an algorithm for {} on {}, got none",
                           description(product), product.device);
}

bool is_lesson(GemmBackend backend) {
  return backend == GemmBackend::naive_lesson || backend == GemmBackend::tiled_lesson ||
         backend == GemmBackend::tensor_core_lesson;
}

// True for an epilogue of at most a bias, which a kernel of its own can add.
bool is_plain(const Epilogue& e) {
  return e.activation == Activation::none && e.row_sums_of_a == nullptr &&
         e.relu_output == nullptr && e.relu_mask == nullptr;
}

// True if cuBLASLt adds the bias before it rounds. On an H100, cuBLASLt 13.0 rounds to 16 bits
// first if beta is not 0 or if rows of C are not aligned.
bool can_add(const GemmCall& call) {
  const RowBias& bias = call.epilogue.bias;
  if (bias.data == nullptr) return true;
  const auto is_aligned = [](std::uintptr_t bytes) { return bytes % 16 == 0; };
  const auto row = static_cast<std::uintptr_t>(call.c.row_stride * item_size(call.c.dtype));
  const bool rounds_once = !is_reduced(call.c.dtype) || (call.beta == 0 && is_aligned(row));
  return bias.dtype == call.c.dtype && rounds_once &&
         is_aligned(reinterpret_cast<std::uintptr_t>(bias.data));
}

// cuBLASLt's kernels that add rows do not divide long sums among blocks, so a small C would leave
// most of the GPU idle. On an H100 a step of bench_amp_step's work W64x18 took 5.5 ms with them,
// and 0.7 ms without.
bool is_too_small_for_row_sums(const GemmCall& call) {
  constexpr std::int64_t kTile = std::int64_t{128} * 256, kEnoughTiles = 66, kLongSum = 2048;
  return call.c.rows * call.c.cols < kEnoughTiles * kTile && call.a.cols > kLongSum;
}

// Multiplies in the accumulating dtype, then launches the epilogue.
void multiply_then_epilogue(const GemmCall& call) {
  const DType wide = call.c.dtype == DType::f64 ? DType::f64 : DType::f32;
  const std::int64_t m = call.c.rows, n = call.c.cols;
  const bool empty_sums = call.a.cols == 0;
  const Shape sizes{call.count, m, n};
  const Array sums = empty_sums ? Array::full(sizes, 0, wide, call.c.device)
                                : Array::empty(sizes, wide, call.c.device);
  if (!empty_sums) {
    GemmCall product = call;
    product.beta = 0;
    product.epilogue = {};
    product.c = {sums.data(), wide, m, n, n, 1, call.c.device};
    product.c_stride = m * n;
    gemm_on_cuda(product);
  }
  const Launch launch(sums, "gemm");
  const std::int64_t all = sums.numel();
  const unsigned blocks = blocks_for(all, kThreads);
  if (wide == DType::f64) {
    epilogue<<<blocks, kThreads, 0, launch.stream()>>>(
        call.c, call.c_stride, sums.data_as<double>(), call.beta, call.epilogue.bias, all);
  } else {
    epilogue<<<blocks, kThreads, 0, launch.stream()>>>(call.c, call.c_stride, sums.data_as<float>(),
                                                       static_cast<float>(call.beta),
                                                       call.epilogue.bias, all);
  }
  launch.check();
}

}  // namespace

bool gemm_on_cuda(const GemmCall& call) {
  if (call.count == 0 || call.c.rows == 0 || call.c.cols == 0) return true;
  const bool plain = is_plain(call.epilogue);
  if (call.epilogue.row_sums_of_a != nullptr && !is_reduced(call.a.dtype)) return false;
  const bool has_mask = call.epilogue.aux != nullptr || call.epilogue.relu_mask != nullptr;
  if (!has_mask && multiply_small(call)) return true;
  if (call.a.dtype != call.b.dtype) return false;
  if (call.epilogue.relu_output != nullptr || (!plain && is_lesson(gemm_backend()))) return false;
  if (call.epilogue.row_sums_of_a != nullptr && is_too_small_for_row_sums(call)) return false;
  if (plain && multiply_by_lesson(call)) return true;
  const auto c = column_major(call.c, call.c_stride);
  const bool by_rows = c && !c->transposed;  // elements of a row of C are contiguous
  if (c && !by_rows && plain && call.epilogue.bias.data == nullptr) {
    return gemm_on_cuda(transposed(call));
  }
  if (!by_rows || call.a.cols == 0 || !can_add(call)) {
    if (plain) multiply_then_epilogue(call);
    return plain;
  }
  // Copies operands that cuBLASLt cannot describe.
  GemmCall dense = call;
  Array a_copy, b_copy;
  auto a = column_major(call.a, call.a_stride), b = column_major(call.b, call.b_stride);
  if (!a) {
    a_copy = make_contiguous(dense.a, dense.a_stride, call.count);
    a = column_major(dense.a, dense.a_stride);
  }
  if (!b) {
    b_copy = make_contiguous(dense.b, dense.b_stride, call.count);
    b = column_major(dense.b, dense.b_stride);
  }
  const ColumnMajorProduct product{call.c.device, call.count, call.alpha, call.beta, *b, *a, *c,
                                   call.epilogue};
  if (multiply_by_cublaslt(product)) return true;
  if (plain && call.epilogue.bias.data != nullptr) {
    multiply_then_epilogue(call);
    return true;
  }
  if (plain) refuse(product);
  return false;
}

}  // namespace halfgrad::detail
