#pragma once

#include <cstdint>

#include <halfgrad/core/gemm.h>

/// gemm on a GPU, with an epilogue that works on C while it is still in registers.
namespace halfgrad::detail {

/// gelu_tanh is gelu(x, "tanh"), the only gelu that cuBLASLt has.
enum class Activation : std::uint8_t { none, relu, gelu_tanh };

/// The operations on C = alpha A B + beta C before it is rounded and stored. Every pointer is to
/// memory on C's device, aligned to 16 bytes; all but the bias have C's dtype.
struct Epilogue {
  RowBias bias = {};
  Activation activation = Activation::none;

  /// If not null, receives what the derivative of the activation needs, in m rows. gelu_tanh: its
  /// argument, with a stride of `aux_stride` elements, a multiple of 8. relu: one bit for each
  /// element, whether its argument was positive, with a stride of `aux_stride` bits, a multiple of
  /// 128. With this mask, relu of NaN may be 0. (The result of relu gives the derivative, too.)
  void* aux = nullptr;
  std::int64_t aux_stride = 0;

  /// If not null, receives the sums of A's rows [m]: the gradient of a bias if C = dY^T X is the
  /// gradient of a weight. Only without the rest of the epilogue, and for 16-bit operands.
  void* row_sums_of_a = nullptr;

  /// If not null, the result of a relu, [m, n] with C's dtype and strides: C is 0 where it is <= 0.
  /// If C = dY W is the gradient of that result, this makes it the gradient of relu's operand. Only
  /// without the rest of the epilogue.
  const void* relu_output = nullptr;

  /// If not null, the bits that relu stored in `aux`, with the stride `aux_stride`: C is 0 where
  /// they are. Only without the rest of the epilogue.
  const void* relu_mask = nullptr;
};

/// The arguments of gemm_batched, which have been checked, and an epilogue. One of A and B may be
/// float32 and the other have 16 bits: then our kernel for a small C rounds its elements to the
/// same 16 bits as it loads them.
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
  /// An operand is float32, or was float32 and has been cast. Our kernel would save that cast, so
  /// GemmBackend::automatic takes it where cuBLASLt would be faster for the product alone: in both
  /// cases, for the same bits.
  bool rounds_operand = false;
};

/// Queues the product on the current stream. Returns false and does nothing if neither our kernel
/// for a small C nor cuBLASLt has this epilogue for these operands, and if only our kernel could
/// round one of them but it does not take the product; the caller then composes it of
/// other ops. A bias alone is always added.
bool gemm_on_cuda(const GemmCall& call);

}  // namespace halfgrad::detail
