#pragma once

#include <cstdint>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>

namespace halfgrad {

/// A view of a matrix that it does not own. Strides count elements; either may be the larger one,
/// or 0.
struct MatrixView {
  const void* data;
  DType dtype;
  std::int64_t rows, cols, row_stride, col_stride;
  Device device = {};
};

/// A view of the matrix that gemm writes: no two elements may share memory.
struct MutableMatrixView {
  void* data;
  DType dtype;
  std::int64_t rows, cols, row_stride, col_stride;
  Device device = {};

  operator MatrixView() const { return {data, dtype, rows, cols, row_stride, col_stride, device}; }
};

/// A contiguous bias of one element for each column of C, on C's device, added to every row of C.
/// No bias when `data` is null.
struct RowBias {
  const void* data = nullptr;
  DType dtype = kFloat32;
};

/// C = alpha A B + beta C + bias for A (m, k), B (k, n), C (m, n) on one device.
///
/// A and B have one floating dtype. C has the same, or f32 if A and B have 16 bits; the bias has
/// any floating dtype. Or all have one integer dtype, on the CPU: see below. f64 is computed in f64
/// and everything else in f32: 16-bit operands are widened exactly, products are accumulated in
/// f32, and C is rounded to 16 bits once, after beta and bias. beta == 0 does not read C. k == 0
/// gives beta C + bias.
///
/// Operands with a unit stride in either dimension, such as transposed views, are used in place;
/// others are copied. On the CPU the order in which an element is summed depends on k alone, not on
/// threads, m, n or strides: a row has the same bits alone and in a batch. Only a C of one column
/// has another order if the rows of A are contiguous (core/gemm/gemm_column.h). The CPU takes
/// scratch memory from the allocator: in the accumulating dtype at most C once, and A and B
/// twice, widened and packed. With HALFGRAD_GEMM=eigen or blas that library multiplies, with memory
/// and an order of its own; Eigen's order does not depend on threads.
///
/// On a GPU the product is queued on the current stream. Our own kernel computes it if the operands
/// have 16 bits and C is small (core/cuda/kernels/gemm_small_plan.h), in an order that depends on
/// m, n and k alone. cuBLASLt computes every other product, in an order that depends on shapes,
/// strides, alignment, dtypes and the kind of GPU. Either way equal calls give equal bits.
/// set_gemm_backend chooses otherwise.
///
/// Integers (not bool) wrap on overflow; alpha and beta are truncated to integers.
///
/// Throws std::invalid_argument when shapes or dtypes do not fit, and for integers on a GPU.
void gemm(double alpha, const MatrixView& a, const MatrixView& b, double beta,
          const MutableMatrixView& c, const RowBias& bias = {});

/// Calls gemm for each i < count on the matrices that start i * stride elements after a, b and c.
/// Stride 0 repeats A or B; the matrices of C must not overlap.
void gemm_batched(std::int64_t count, double alpha, const MatrixView& a, std::int64_t a_stride,
                  const MatrixView& b, std::int64_t b_stride, double beta,
                  const MutableMatrixView& c, std::int64_t c_stride, const RowBias& bias = {});

/// The kernel that multiplies 16-bit matrices on a GPU. cuBLASLt computes every product that the
/// chosen kernel does not take.
enum class GemmBackend : std::uint8_t {
  automatic,      ///< small_product if C is small, else cuBLASLt
  cublaslt,       ///< cuBLASLt only
  small_product,  ///< Our kernel for a small C, made for networks whose layers are narrow. It takes
                  ///< alpha = 1, beta = 0, one matrix, and a unit stride in each operand.

  /// Three kernels to read, from the slowest to the fastest, so that a network can be trained with
  /// them. They take fp16 operands of any strides and f16 or f32 results of up to two million
  /// columns.
  naive_lesson,
  tiled_lesson,
  tensor_core_lesson
};

/// Chooses the kernel for all threads, from the next product on. Default: automatic.
void set_gemm_backend(GemmBackend backend);
GemmBackend gemm_backend();

namespace backends::cpu {

/// Lets products of bf16 matrices use the dot product of AMD's processors (AVX512_BF16). Default
/// true. A product of large matrices then takes about half as long. (Intel's dot product takes
/// longer than the float kernel.) Its bits are those of the float kernel, since the product of two
/// bf16 values is exact in float; but subnormal operands and sums, magnitudes below 2^-126, count
/// as 0, unless C has one row or column. With false, they do not, and AMX isn't used for bf16
/// either. The switch applies to all threads, from the next product on.
void set_allow_bf16_dot(bool allow);
bool allow_bf16_dot();

/// Lets products of 16-bit matrices use AMX, the matrix unit of some Intel processors, where Linux
/// lets the process use it. Default true. Products of single elements are exact, and sums are in
/// float, as without AMX; but they are added in another order (core/gemm/gemm_amx.h), so the last
/// bits differ from those of other processors. Subnormal operands and sums of bf16 matrices count
/// as 0; fp16 loses nothing. One row of fp16 takes 1.6 to 3.3 times as long as without AMX. The
/// switch applies to all threads, from the next product on.
void set_allow_amx(bool allow);
bool allow_amx();

}  // namespace backends::cpu

/// Lets cuBLASLt trade exactness for speed. PyTorch's switches of the same names; they apply to all
/// threads, from the next product on.
namespace backends::cuda::matmul {

/// Rounds f32 operands to TF32, 11 significant bits, for the tensor cores. Default false, as in
/// PyTorch, which in C++ calls it at::globalContext().setAllowTF32CuBLAS(allow).
void set_allow_tf32(bool allow);
bool allow_tf32();

/// Lets the partial sums of blocks that share an element of C be added in fp16. Default false: all
/// sums are in f32. (PyTorch's default is true.)
void set_allow_fp16_reduced_precision_reduction(bool allow);
bool allow_fp16_reduced_precision_reduction();

/// Lets relu use cuBLASLt's epilogues RELU_AUX and DRELU in large products, for which no kernel of
/// ours has relu as its epilogue. This concerns linear_relu, and a Linear with a ReLU after it in a
/// Sequential. Forward then stores one bit for each element: was it positive? The product of the
/// next layer's backward reads this mask, so relu costs no launch. Default false, because two
/// results may differ:
///
///   * NaN before relu may become 0, with a gradient of 0: an overflow is hidden.
///   * A positive value that rounds to 0 in 16 bits counts as positive, so its gradient passes.
///
/// PyTorch has no such switch.
void set_allow_relu_mask(bool allow);
bool allow_relu_mask();

}  // namespace backends::cuda::matmul

}  // namespace halfgrad
