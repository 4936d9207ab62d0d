#pragma once

#include <optional>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/kernels/gemm.h>

namespace halfgrad::detail {

/// out = alpha a b + beta out + bias, for matrices or batches of them
///
/// a [batch..., m, k], b [batch..., k, n], out [batch..., m, n]: the batches of a and b broadcast
/// to out's, without a copy. bias: undefined, or [n], added to every row. Strides are arbitrary,
/// and the dtype is one that expect_one_dtype allows; accumulation and rounding are gemm's.
void product(double alpha, const Array& a, const Array& b, double beta, const Array& out,
             const Array& bias = {});

/// out = activation(a b + bias) for matrices [m, k] and [k, n], in one launch on a GPU
///
/// If `aux` is defined, stores there what the derivative needs: for gelu a b + bias, rounded, for
/// relu a relu_mask(). Returns false, having done nothing, on a CPU and where cuBLASLt lacks this
/// epilogue for the operands.
bool activated_product(Activation activation, const Array& a, const Array& b, const Array& bias,
                       const Array& out, const Array& aux);

/// Returns whether rounding_product(), for a float32 `x` [..., in] and for `w` [out, in] in 16
/// bits, takes their product on a GPU: by rows in memory, and small.
bool rounds_while_loading(const Array& x, const Array& w);

/// out = activation(a b + bias) for matrices [m, k] and [k, n], in one launch of our kernel for
/// small products
///
/// If a or b is float32, and the other has 16 bits, the kernel rounds each element to these bits as
/// it loads it. `out` has the bits of an operand that was cast before. Returns false, having done
/// nothing, if the kernel does not take the operands.
bool rounding_product(Activation activation, const Array& a, const Array& b, const Array& bias,
                      const Array& out);

/// Memory for one bit of each element of `output`, the relu of a product with sums of k terms, in
/// rows that cuBLASLt takes. Undefined on a CPU, where our own kernel computes the product, and
/// unless backends::cuda::matmul::allow_relu_mask().
Array relu_mask(const Array& output, std::int64_t k);

/// out = a b where `relu_output` > 0 or is NaN, else 0, for matrices [m, k] and [k, n], in one
/// launch on a GPU
///
/// relu_output has the shape, dtype and strides of `out`. `mask`, if it is defined, is the
/// relu_mask() that activated_product() stored. Returns false, having done nothing, on a CPU and if
/// no kernel has this epilogue for the operands.
bool masked_product(const Array& a, const Array& b, const Array& relu_output, const Array& mask,
                    const Array& out);

/// a b, and the sum of each row of a.
struct ProductAndRowSums {
  Array product, row_sums;
};

/// Returns a b for matrices [m, k] and [k, n], and the sums [m] of a's rows, in one launch on a
/// GPU; nothing on a CPU and where no kernel has this epilogue for the operands. Rounds a float32 b
/// as rounding_product() does.
std::optional<ProductAndRowSums> product_and_row_sums(const Array& a, const Array& b);

/// Throws std::invalid_argument unless both have one dtype that product() takes: floating point, or
/// integers on the CPU.
void expect_one_dtype(const char* op, const Array& a, const Array& b);

}  // namespace halfgrad::detail
