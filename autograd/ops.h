#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/autograd/comparisons.h>
#include <halfgrad/autograd/losses.h>
#include <halfgrad/autograd/reductions.h>
#include <halfgrad/autograd/sorting.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/autograd/unary_ops.h>

/// All ops, by kind, with those of comparisons.h, losses.h, reductions.h, sorting.h and
/// unary_ops.h. Each is defined in `ops/<name>.cpp`, or in a file with related ops, with its
/// formula, gradient and precision. Names, argument order and semantics are libtorch's. Operands
/// broadcast and promote as in PyTorch. Every dim may be negative (counted from the end).
namespace halfgrad {

// --- Arithmetic (sub in ops/add.cpp, minimum in maximum.cpp) ---
Tensor add(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, const Tensor& other);
Tensor add(const Tensor& self, Scalar other, Scalar alpha = 1);  // Scalars: operators.cpp
Tensor sub(const Tensor& self, Scalar other, Scalar alpha = 1);
Tensor mul(const Tensor& self, Scalar other);
Tensor div(const Tensor& self, Scalar other);
/// The quotient rounded to an integer: "trunc" rounds toward zero, "floor" toward -infinity, both
/// without gradient; std::nullopt is div(self, other). Integer operands give integers; the smallest
/// integer divided by -1 gives itself. Throws std::invalid_argument for another mode, for two bool
/// tensors and, on a CPU, for an integer division by 0, which gives 0 on a GPU.
Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode);
Tensor div(const Tensor& self, Scalar other, std::optional<std::string_view> rounding_mode);
/// div(self, other, "floor").
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor floor_divide(const Tensor& self, Scalar other);
/// The remainder of self / other: remainder() has the sign of other, as Python's %, and fmod() the
/// sign of self, as in C (both in ops/remainder.cpp). They throw as div does; on a GPU an integer
/// remainder by 0 is self.
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor remainder(const Tensor& self, Scalar other);
Tensor remainder(Scalar self, const Tensor& other);
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, Scalar other);
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, Scalar exponent);
Tensor pow(Scalar self, const Tensor& exponent);
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor minimum(const Tensor& self, const Tensor& other);
Tensor clamp(const Tensor& self, std::optional<Scalar> min,
             std::optional<Scalar> max = std::nullopt);
/// Either bound may be undefined. Where self equals a bound, each gets half of the gradient.
Tensor clamp(const Tensor& self, const Tensor& min, const Tensor& max = {});
Tensor clamp_min(const Tensor& self, Scalar min);
Tensor clamp_max(const Tensor& self, Scalar max);
Tensor clamp_min(const Tensor& self, const Tensor& min);
Tensor clamp_max(const Tensor& self, const Tensor& max);
/// start + weight * (end - start). All have one dtype, except a 0-dimensional weight.
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& start, const Tensor& end, Scalar weight);
/// self + value * tensor1 * tensor2, and self + value * tensor1 / tensor2.
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
/// `condition` must be bool.
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& self, Scalar other);
Tensor where(const Tensor& condition, Scalar self, const Tensor& other);

// ops/shared/operators.cpp
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator%(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
Tensor operator+(const Tensor& a, Scalar b);
Tensor operator-(const Tensor& a, Scalar b);
Tensor operator*(const Tensor& a, Scalar b);
Tensor operator/(const Tensor& a, Scalar b);
Tensor operator%(const Tensor& a, Scalar b);
Tensor operator+(Scalar a, const Tensor& b);
Tensor operator-(Scalar a, const Tensor& b);
Tensor operator*(Scalar a, const Tensor& b);
/// Precision::wide_range, as reciprocal: float32 under autocast, where div stays in 16 bits.
Tensor operator/(Scalar a, const Tensor& b);
Tensor operator%(Scalar a, const Tensor& b);

// --- Views (ops/views.cpp): share the storage ---
Tensor reshape(const Tensor& self, const Shape& sizes);
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
Tensor permute(const Tensor& self, const Shape& dims);
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, std::int64_t dim);
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
Tensor expand(const Tensor& self, const Shape& sizes);
Tensor slice(const Tensor& self, std::int64_t dim = 0,
             std::optional<std::int64_t> start = std::nullopt,
             std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
Tensor flatten(const Tensor& self, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
/// ops/as_strided.cpp: any view of self's storage. Offset and strides count elements; the offset is
/// self's if none is given. Gradients of elements of the view that coincide are summed. Elements of
/// self that coincide get equal shares, and elements outside of self get none. Throws
/// std::invalid_argument for a negative stride or offset, and for elements outside the storage.
Tensor as_strided(const Tensor& self, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset = std::nullopt);
// ops/diagonal.cpp
/// The elements whose index in dim2 is `offset` larger than in dim1. They form a last dimension
/// that replaces dim1 and dim2.
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = 0,
                std::int64_t dim2 = 1);
/// A copy of that diagonal of a matrix; for a vector, the matrix with that diagonal and zeros
/// elsewhere.
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
/// The sum of a matrix's diagonal.
Tensor trace(const Tensor& self);
// ops/split.cpp
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// Pieces of split_size along `dim`; the last one may be shorter.
std::vector<Tensor> split(const Tensor& self, std::int64_t split_size, std::int64_t dim = 0);
std::vector<Tensor> split(const Tensor& self, const std::vector<std::int64_t>& split_sizes,
                          std::int64_t dim = 0);
std::vector<Tensor> split_with_sizes(const Tensor& self,
                                     const std::vector<std::int64_t>& split_sizes,
                                     std::int64_t dim = 0);
/// Pieces of size(dim) / chunks, rounded up: there may be fewer than `chunks`.
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);

// --- Conversion (ops/cast.cpp) ---
/// Differentiable: the gradient is cast back.
Tensor to(const Tensor& self, DType dtype);
Tensor to(const Tensor& self, Device device);
Tensor clone(const Tensor& self);
Tensor contiguous(const Tensor& self);

// --- Rearranging (ops/rearranging.cpp): copies ---
Tensor flip(const Tensor& self, const Shape& dims);
/// Shifts cyclically by shifts[i] along dims[i]; without dims by one shift along the flattened
/// tensor.
Tensor roll(const Tensor& self, const Dims& shifts, const Dims& dims = {});
/// Repeats self repeats[i] times along dimension i. If `repeats` is longer than self.sizes(), new
/// dimensions are added in front.
Tensor repeat(const Tensor& self, const Shape& repeats);
/// The lower (tril) or upper (triu) triangle of each matrix [..., n, m], and zeros elsewhere.
/// `diagonal` moves the border up, by that many diagonals from the main one.
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

// --- Joining and indexing (embedding in ops/index_select.cpp); indices are int64 ---
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value);
/// indexing.cpp: the indices of elements that are not 0, int64 [count, dim()] in row-major order,
/// and the elements where `mask` is true, [count]. Both make the host wait for the device.
Tensor nonzero(const Tensor& self);
Tensor masked_select(const Tensor& self, const Tensor& mask);
/// Rows of `weight` [n, d] picked by `indices` (any shape): [..., d].
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx = std::nullopt);
/// int64 [..., num_classes]; num_classes -1 takes the largest index plus one.
Tensor one_hot(const Tensor& self, std::int64_t num_classes = -1);

// --- Products (ops/matmul.cpp, addmm.cpp, dot.cpp, linear.cpp); integers wrap, CPU only ---
/// 1-D, 2-D and batched products, as torch.matmul.
Tensor matmul(const Tensor& self, const Tensor& other);
Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);
Tensor mv(const Tensor& self, const Tensor& vec);
Tensor dot(const Tensor& self, const Tensor& tensor);
Tensor outer(const Tensor& self, const Tensor& vec2);
/// The vector product along `dim`, of size 3; the first such dimension when absent.
Tensor cross(const Tensor& self, const Tensor& other,
             std::optional<std::int64_t> dim = std::nullopt);
/// beta * self + alpha * mat1 @ mat2. With beta 0 self is not read, with alpha 0 not mat1 and mat2.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta = 1,
             Scalar alpha = 1);
/// addmm for batches [b, m, k] and [b, k, n].
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
               Scalar alpha = 1);
/// ops/einsum.cpp: sums of products by an equation such as "bij,bjk->bik". Each letter names a
/// dimension of an operand; the same letter in several operands needs sizes that are equal or 1,
/// and twice in one operand takes its diagonal. "..." stands for all dimensions without a letter,
/// which broadcast. The result has the dimensions after "->", in that order; all others are summed.
/// Without "->" the result has the dimensions of "...", then the letters that occur once, in ASCII
/// order. Operands are multiplied from left to right, by bmm where a letter is summed.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& tensors);
/// input [..., in] @ weight [out, in]^T + bias. bias is [out], or any shape that broadcasts to the
/// result's.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

// --- Rows (log_softmax in ops/softmax.cpp, rms_norm in layer_norm.cpp) ---
Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// weight and bias are float64 if and only if input is. This also holds for the weight of
/// cross_entropy and nll_loss.
Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
/// eps, when absent: the machine epsilon of the input's compute type.
Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);
/// Normalizes each channel, dimension 1 of [n, c] or [n, c, ...]. In training updates the running
/// statistics in place, with the unbiased variance of the batch:
///
///     running = (1 - momentum) * running + momentum * batch
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum = 0.1, double eps = 1e-5);
/// In training zeroes each element with probability p and divides the others by 1 - p.
Tensor dropout(const Tensor& input, double p, bool train);

namespace detail {

/// target += source, in place and outside the graph; source broadcasts to the shape of target.
void add_into(const Array& target, const Array& source);
/// out = a b, for arrays that need no casts; out is allocated by the caller.
void mul_into(const Array& out, const Array& a, const Array& b);

}  // namespace detail

}  // namespace halfgrad
