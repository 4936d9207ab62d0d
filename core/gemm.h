#pragma once

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>

#include <cstdint>

namespace halfgrad {

/// A matrix somewhere in memory; strides count elements, either may be the longer one, or 0.
struct MatrixView {
  const void* data;
  DType dtype;
  int64_t rows, cols, row_stride, col_stride;
  Device device = {};
};

/// As MatrixView, to be written: no two elements may share memory.
struct MutableMatrixView {
  void* data;
  DType dtype;
  int64_t rows, cols, row_stride, col_stride;
  Device device = {};

  operator MatrixView() const { return {data, dtype, rows, cols, row_stride, col_stride, device}; }
};

/// As many contiguous numbers as C has columns, on C's device, added to each row of C; none when
/// `data` is null.
struct RowBias {
  const void* data = nullptr;
  DType dtype = kFloat32;
};

/// C = alpha A B + beta C + bias for A (m, k), B (k, n), C (m, n) on one device.
///
/// A and B have one floating dtype and C has the same, or f32 where A and B have 16 bits; bias any
/// floating dtype. Or all have one integer dtype, on the CPU: see below. f64 is computed in f64 and
/// all else in f32: 16-bit operands are widened exactly, products are accumulated in f32, and C is
/// rounded to 16 bits once, after beta and bias. beta == 0 does not read C. k == 0 gives beta C +
/// bias.
///
/// Operands with a unit stride either way, so any transposed view, are used in place; others are
/// copied. Each element is summed in an order that on the CPU depends on k alone: not on the number
/// of threads, and not on m, n or strides, so that a row has the same bits alone and in a batch.
/// There it takes scratch memory from the allocator while it runs: in the accumulating dtype at
/// most C once and A and B twice, widened and packed. Built with HALFGRAD_GEMM=eigen or blas, that
/// library multiplies instead, with memory and in an order of its own; Eigen's depends on shapes
/// and strides, not on threads.
///
/// On a GPU it is queued on the current stream. cuBLASLt multiplies, unless set_gemm_backend says
/// otherwise, in an order that depends on shapes, strides, alignment, dtypes and the kind of GPU:
/// equal calls give equal bits.
///
/// Integers (not bool) wrap, as their sums and products do; alpha and beta are cut to integers.
///
/// Throws std::invalid_argument when shapes or dtypes do not fit, and for integers on a GPU.
void gemm(double alpha, const MatrixView& a, const MatrixView& b, double beta,
          const MutableMatrixView& c, const RowBias& bias = {});

/// gemm for i < count on the matrices that begin i * stride elements after a, b and c. Stride 0
/// repeats A or B; c_stride must keep the results apart.
void gemm_batched(int64_t count, double alpha, const MatrixView& a, int64_t a_stride,
                  const MatrixView& b, int64_t b_stride, double beta, const MutableMatrixView& c,
                  int64_t c_stride, const RowBias& bias = {});

/// Who multiplies fp16 matrices on a GPU: cuBLASLt, or one of the three lessons of core/cuda (from
/// the slowest to the quickest), so that a network can be trained with a kernel one can read. They
/// take fp16 operands, any strides and f16 or f32 results of up to two million columns; all else
/// goes to cuBLASLt as before.
enum class GemmBackend : uint8_t { cublaslt, naive_lesson, tiled_lesson, tensor_core_lesson };

/// For all threads, from the next product on.
void set_gemm_backend(GemmBackend backend);
GemmBackend gemm_backend();

/// What cuBLASLt may do to be quicker at the cost of exactness. PyTorch's switches of the same
/// names; for all threads, from the next product on.
namespace backends::cuda::matmul {

/// f32 operands rounded to TF32, 11 significant bits, and multiplied by tensor cores. Default
/// false, as in PyTorch, which in C++ calls it at::globalContext().setAllowTF32CuBLAS(allow).
void set_allow_tf32(bool allow);
bool allow_tf32();

/// A sum of fp16 products that is split among blocks may be put together in fp16. Default false: we
/// accumulate in f32 throughout. (PyTorch's default is true.)
void set_allow_fp16_reduced_precision_reduction(bool allow);
bool allow_fp16_reduced_precision_reduction();

}  // namespace backends::cuda::matmul

}  // namespace halfgrad
