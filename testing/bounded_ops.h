#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <halfgrad/testing/bounded_array.h>

/// The ops in which a formula is written, with libtorch's names, defaults and semantics. Shapes
/// broadcast. Each op adds the error that a kernel's operation may have (error_bound.h), and has a
/// derivative. Wrong shapes throw std::invalid_argument that names the op.
namespace halfgrad::testing {

/// A constant of the kernel's source code, which the kernel may have to round.
BoundedArray constant(const BoundedArray& like, double value);
BoundedArray zeros_like(const BoundedArray& x);

BoundedArray operator+(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator-(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator*(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator/(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator+(const BoundedArray& a, double b);
BoundedArray operator-(const BoundedArray& a, double b);
BoundedArray operator*(const BoundedArray& a, double b);
BoundedArray operator/(const BoundedArray& a, double b);
BoundedArray operator+(double a, const BoundedArray& b);
BoundedArray operator-(double a, const BoundedArray& b);
BoundedArray operator*(double a, const BoundedArray& b);
BoundedArray operator/(double a, const BoundedArray& b);
BoundedArray operator-(const BoundedArray& x);

/// Comparisons give 1 and 0. Where the errors leave open which, the result has an error of 1.
BoundedArray operator<(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator<=(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator>(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator>=(const BoundedArray& a, const BoundedArray& b);
BoundedArray operator<(const BoundedArray& a, double b);
BoundedArray operator<=(const BoundedArray& a, double b);
BoundedArray operator>(const BoundedArray& a, double b);
BoundedArray operator>=(const BoundedArray& a, double b);
BoundedArray eq(const BoundedArray& a, const BoundedArray& b);

BoundedArray abs(const BoundedArray& x);
/// e^x, by a kernel that may compute 2^(x log2(e)).
BoundedArray exp(const BoundedArray& x);
BoundedArray log(const BoundedArray& x);
BoundedArray sqrt(const BoundedArray& x);
BoundedArray rsqrt(const BoundedArray& x);
BoundedArray tanh(const BoundedArray& x);
BoundedArray erf(const BoundedArray& x);
BoundedArray sigmoid(const BoundedArray& x);
BoundedArray relu(const BoundedArray& x);
/// Phi(x), the distribution function of the standard normal distribution: gelu(x) = x Phi(x).
BoundedArray normal_cdf(const BoundedArray& x);
/// `tanh_approximation` is libtorch's approximate = "tanh".
BoundedArray gelu(const BoundedArray& x, bool tanh_approximation = false);
BoundedArray silu(const BoundedArray& x);
/// Whole powers by repeated products; a negative one is a reciprocal.
BoundedArray pow(const BoundedArray& x, int exponent);
BoundedArray square(const BoundedArray& x);
BoundedArray clamp(const BoundedArray& x, double low,
                   double high = std::numeric_limits<double>::infinity());
BoundedArray maximum(const BoundedArray& a, const BoundedArray& b);
BoundedArray minimum(const BoundedArray& a, const BoundedArray& b);
/// a where the condition is not 0, else b.
BoundedArray where(const BoundedArray& condition, const BoundedArray& a, const BoundedArray& b);
BoundedArray masked_fill(const BoundedArray& x, const BoundedArray& mask, double value);

/// Two formulas of one result: a kernel may use either. The value is that of `best`, the more
/// exact one. Needed where mathematically equal formulas have errors of another size: the bound of
/// `best` alone would accuse a kernel that computes `usual`.
BoundedArray either(const BoundedArray& best, const BoundedArray& usual);
/// An intermediate result that a kernel may store in the dtype of its output and load again.
BoundedArray stored(const BoundedArray& x);

/// Products of matrices, vectors and batches of matrices. A sum `matmul(a, b) + c` allows an
/// accumulator that begins with c.
BoundedArray matmul(const BoundedArray& a, const BoundedArray& b);
/// x [..., k], weight [n, k], bias [n] or undefined: [..., n]
BoundedArray linear(const BoundedArray& x, const BoundedArray& weight,
                    const BoundedArray& bias = {});

/// Reductions, over all dimensions if `dims` is empty. Sums are in any order.
BoundedArray sum(const BoundedArray& x, const Shape& dims = {}, bool keepdim = false);
BoundedArray mean(const BoundedArray& x, const Shape& dims = {}, bool keepdim = false);
BoundedArray amax(const BoundedArray& x, const Shape& dims = {}, bool keepdim = false);
BoundedArray amin(const BoundedArray& x, const Shape& dims = {}, bool keepdim = false);
BoundedArray logsumexp(const BoundedArray& x, const Shape& dims, bool keepdim = false);

/// Sums of the elements up to each one, in any order.
BoundedArray cumsum(const BoundedArray& x, std::int64_t dim);
/// Products of exact factors are in any order.
BoundedArray prod(const BoundedArray& x, std::int64_t dim, bool keepdim = false);
/// The place of the first largest element, NaN before others; not judged where errors leave it
/// open. It has no derivative.
BoundedArray argmax(const BoundedArray& x, std::int64_t dim, bool keepdim = false);

BoundedArray softmax(const BoundedArray& x, std::int64_t dim);
BoundedArray log_softmax(const BoundedArray& x, std::int64_t dim);
/// Over the last dimensions, of sizes `normalized_shape`. Weight and bias may be undefined.
BoundedArray layer_norm(const BoundedArray& x, const Shape& normalized_shape,
                        const BoundedArray& weight = {}, const BoundedArray& bias = {},
                        double eps = 1e-5);
BoundedArray rms_norm(const BoundedArray& x, const Shape& normalized_shape,
                      const BoundedArray& weight = {}, double eps = 1e-5);

/// Attention of query [b, m, d], key [b, n, d] and value [b, n, e]: the output [b, m, e] and the
/// logsumexp of the scores q k^T / sqrt(d), [b, m]. If it is causal, query i sees the keys up to i.
BoundedArrays scaled_dot_product_attention(const BoundedArray& query, const BoundedArray& key,
                                           const BoundedArray& value, bool is_causal = false);

BoundedArray expand(const BoundedArray& x, const Shape& sizes);
BoundedArray permute(const BoundedArray& x, const Shape& dims);
BoundedArray unsqueeze(const BoundedArray& x, std::int64_t dim);
/// `length` indices of one dimension from `start` on.
BoundedArray narrow(const BoundedArray& x, std::int64_t dim, std::int64_t start,
                    std::int64_t length);
BoundedArray cat(const std::vector<BoundedArray>& parts, std::int64_t dim = 0);
/// Indices are exact whole values, from 0 to the size of `dim` less 1.
BoundedArray index_select(const BoundedArray& x, std::int64_t dim, const BoundedArray& index);
BoundedArray gather(const BoundedArray& x, std::int64_t dim, const BoundedArray& index);
/// x plus `source` at the places of `index`; sums are in any order.
BoundedArray scatter_add(const BoundedArray& x, std::int64_t dim, const BoundedArray& index,
                         const BoundedArray& source);

}  // namespace halfgrad::testing
