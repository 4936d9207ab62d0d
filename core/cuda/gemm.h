#pragma once

#include <cstdint>

#include <halfgrad/core/gemm.h>

/// gemm on a GPU, and what may be done to C while it is still in registers.
namespace halfgrad::detail {

/// gelu_tanh is gelu by tanh, as gelu(x, "tanh"): what cuBLASLt has.
enum class Activation : std::uint8_t { none, relu, gelu_tanh };

/// On C = alpha A B + beta C, before it is rounded and stored. Every pointer is to memory on C's
/// device, aligned to 16 bytes; all but the bias have C's dtype.
struct Epilogue {
  RowBias bias = {};
  Activation activation = Activation::none;

  /// For gelu_tanh, if not null, gets its argument, which the derivative needs: m rows, every
  /// `aux_stride` elements, a multiple of 8. (relu's derivative is told by its result.)
  void* aux = nullptr;
  std::int64_t aux_stride = 0;

  /// If not null, it gets the sums of A's rows [m]: the gradient of a bias where C = dY^T X is the
  /// gradient of a weight. With nothing else, and for 16-bit operands alone.
  void* row_sums_of_a = nullptr;
};

/// As gemm_batched, whose operands have been checked.
struct GemmCall {
  std::int64_t count;
  double alpha;
  MatrixView a;
  std::int64_t a_stride = 0;
  MatrixView b;
  std::int64_t b_stride = 0;
  double beta = 0;
  MutableMatrixView c;
  std::int64_t c_stride = 0;
  Epilogue epilogue = {};
};

/// Queues the product on the current stream. A bias is always added; false, with nothing done, when
/// the rest of the epilogue is not to be had for these operands: then compose it of other ops.
bool gemm_on_cuda(const GemmCall& call);

}  // namespace halfgrad::detail
