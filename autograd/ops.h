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

/// Every op, by kind, with those of comparisons.h, losses.h, reductions.h and sorting.h. Each lives
/// in ops/<name>.cpp, or on a page with its relatives, where its formula, gradient and precision
/// stand. Names, argument order and semantics are libtorch's. Operands broadcast and promote as in
/// PyTorch. Every dim may be negative (counted from the end).
namespace halfgrad {

// --- Arithmetic (sub in ops/add.cpp, minimum in maximum.cpp) ---
Tensor add(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, const Tensor& other);
Tensor add(const Tensor& self, Scalar other, Scalar alpha = 1);  // with numbers: ops/operators.cpp
Tensor sub(const Tensor& self, Scalar other, Scalar alpha = 1);
Tensor mul(const Tensor& self, Scalar other);
Tensor div(const Tensor& self, Scalar other);
/// The quotient rounded to an integer: by "trunc" toward zero, by "floor" toward -infinity, both
/// without gradient; none: div(self, other). Of integers an integer, and of the smallest by -1
/// itself. Throws std::invalid_argument for another mode, for two bool tensors and, on a CPU, for
/// integers by 0; on a GPU those give 0.
Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode);
Tensor div(const Tensor& self, Scalar other, std::optional<std::string_view> rounding_mode);
/// div(self, other, "floor").
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor floor_divide(const Tensor& self, Scalar other);
/// What is left of self: with the sign of other by remainder, Python's %, with that of self by
/// fmod, C's (both in ops/remainder.cpp). Throw as div does; on a GPU integers by 0 leave self.
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor remainder(const Tensor& self, Scalar other);
Tensor remainder(Scalar self, const Tensor& other);
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, Scalar other);
Tensor neg(const Tensor& self);
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, Scalar exponent);
Tensor pow(Scalar self, const Tensor& exponent);
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor minimum(const Tensor& self, const Tensor& other);
Tensor clamp(const Tensor& self, std::optional<Scalar> min,
             std::optional<Scalar> max = std::nullopt);
/// Either may be undefined. Where self equals a bound, each gets half of the gradient.
Tensor clamp(const Tensor& self, const Tensor& min, const Tensor& max = {});
Tensor clamp_min(const Tensor& self, Scalar min);
Tensor clamp_max(const Tensor& self, Scalar max);
Tensor clamp_min(const Tensor& self, const Tensor& min);
Tensor clamp_max(const Tensor& self, const Tensor& max);
/// start + weight * (end - start); all of one dtype, but for a weight without dimensions.
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& start, const Tensor& end, Scalar weight);
/// self + value * tensor1 * tensor2, and self + value * tensor1 / tensor2.
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1);
/// `condition` is bool.
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& self, Scalar other);
Tensor where(const Tensor& condition, Scalar self, const Tensor& other);

// ops/operators.cpp
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
/// Precision::wide_range, as reciprocal: in float32 under autocast, where div keeps 16 bits.
Tensor operator/(Scalar a, const Tensor& b);
Tensor operator%(Scalar a, const Tensor& b);

// --- Functions of one number ---
// sqrt to square in ops/roots.cpp, sin to tan in trigonometric.cpp, log2 to log1p with log, exp2
// and expm1 with exp
Tensor abs(const Tensor& self);
Tensor exp(const Tensor& self);
Tensor exp2(const Tensor& self);
Tensor expm1(const Tensor& self);
Tensor log(const Tensor& self);
Tensor log2(const Tensor& self);
Tensor log10(const Tensor& self);
Tensor log1p(const Tensor& self);
Tensor sqrt(const Tensor& self);
Tensor rsqrt(const Tensor& self);
Tensor reciprocal(const Tensor& self);
Tensor square(const Tensor& self);
Tensor sin(const Tensor& self);
Tensor cos(const Tensor& self);
Tensor tan(const Tensor& self);
Tensor tanh(const Tensor& self);
Tensor erf(const Tensor& self);
// ops/rounding.cpp: integers stay as they are; the gradient is 0, as is sign's
Tensor floor(const Tensor& self);
Tensor ceil(const Tensor& self);
/// Halves to the even neighbour.
Tensor round(const Tensor& self);
Tensor trunc(const Tensor& self);
/// 0 of 0 and of NaN.
Tensor sign(const Tensor& self);

// --- Activations ---
Tensor sigmoid(const Tensor& self);
Tensor relu(const Tensor& self);
Tensor leaky_relu(const Tensor& self, Scalar negative_slope = 0.01);
Tensor elu(const Tensor& self, Scalar alpha = 1.0);
/// `approximate` is "none" (x Phi(x), exact) or "tanh".
Tensor gelu(const Tensor& self, const std::string& approximate = "none");
Tensor silu(const Tensor& self);
/// log(1 + exp(beta x)) / beta, or x where beta x > threshold. PyTorch's default of 20 for that
/// would cost float64 half its digits.
Tensor softplus(const Tensor& self, Scalar beta = 1.0,
                Scalar threshold = std::numeric_limits<double>::infinity());

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
/// ops/as_strided.cpp: any view of self's storage, in which offset and strides count elements; from
/// self's offset on if none is given. Where elements of the view coincide their gradients add up;
/// where those of self do, each gets an equal share; what self does not show gets none. Throws
/// std::invalid_argument for a negative stride or offset, and for elements outside the storage.
Tensor as_strided(const Tensor& self, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset = std::nullopt);
// ops/diagonal.cpp
/// The elements with dim2's index `offset` above dim1's, as a last dimension instead of those two.
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = 0,
                std::int64_t dim2 = 1);
/// Copies: that diagonal of a matrix, or of a vector the matrix that has it there, and zeros.
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
/// The sum of a matrix's diagonal.
Tensor trace(const Tensor& self);
// ops/split.cpp
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// Pieces of split_size along `dim`, the last one shorter if they do not fit.
std::vector<Tensor> split(const Tensor& self, std::int64_t split_size, std::int64_t dim = 0);
std::vector<Tensor> split(const Tensor& self, const std::vector<std::int64_t>& split_sizes,
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
/// Moves along dims[i] by shifts[i], what leaves at the end to the front; without dims by one shift
/// along the flattened tensor.
Tensor roll(const Tensor& self, const Dims& shifts, const Dims& dims = {});
/// As often along each dimension as `repeats` says, from the last one; more of them than self has
/// dimensions put new ones in front.
Tensor repeat(const Tensor& self, const Shape& repeats);
/// The lower, or upper, triangle of each matrix [..., n, m], with `diagonal` diagonals above the
/// main one more, or less; zeros elsewhere.
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

// --- Joining and indexing (embedding in ops/index_select.cpp); indices are int64 ---
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value);
/// indexing.cpp: where self is not 0, int64 [count, dim()] in row-major order, and the numbers
/// there, [count]. Both wait for the device.
Tensor nonzero(const Tensor& self);
Tensor masked_select(const Tensor& self, const Tensor& mask);
/// Rows of `weight` [n, d] picked by `indices` (any shape): [..., d].
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx = std::nullopt);
/// int64 [..., num_classes]; num_classes -1 takes the largest index plus one.
Tensor one_hot(const Tensor& self, std::int64_t num_classes = -1);

// --- Products (ops/matmul.cpp, addmm.cpp, dot.cpp, linear.cpp); integers on the CPU, and wrap ---
/// 1-D, 2-D and batched cases as torch.matmul.
Tensor matmul(const Tensor& self, const Tensor& other);
Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);
Tensor mv(const Tensor& self, const Tensor& vec);
Tensor dot(const Tensor& self, const Tensor& tensor);
Tensor outer(const Tensor& self, const Tensor& vec2);
/// beta * self + alpha * mat1 @ mat2. With beta 0 self is not read, with alpha 0 not mat1 and mat2.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta = 1,
             Scalar alpha = 1);
/// The same for batches [b, m, k] and [b, k, n].
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
               Scalar alpha = 1);
/// ops/einsum.cpp: the sum of products that an equation says, such as "bij,bjk->bik". A letter
/// names a dimension of each operand it stands at, where sizes are equal or 1; twice at one, its
/// diagonal. "..." is all dimensions that have no letter, broadcast. What is behind "->" stays, in
/// that order, and the rest is summed; without an arrow the dots stay, and in ASCII's order the
/// letters that stand once. Products are taken from the left, by bmm where a letter is summed.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& tensors);
/// input [..., in] @ weight [out, in]^T + bias: [out], one number, or any shape that broadcasts to
/// the result's.
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

// --- Rows (log_softmax in ops/softmax.cpp, rms_norm in layer_norm.cpp) ---
Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// weight and bias are float64 where input is, and nowhere else; so is cross_entropy's and
/// nll_loss's weight.
Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
/// eps: the machine epsilon of the input's compute type when not given.
Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);
/// Over dimension 1 of [n, c] or [n, c, ...]; in training updates the running statistics in place
/// (running = (1 - momentum) * running + momentum * batch, variance unbiased).
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum = 0.1, double eps = 1e-5);
/// In training zeroes each element with probability p and divides the others by 1 - p.
Tensor dropout(const Tensor& input, double p, bool train);

namespace detail {

/// target += source, in place, unrecorded; shapes broadcast to the target's.
void add_into(const Array& target, const Array& source);

}  // namespace detail

}  // namespace halfgrad
