#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include <halfgrad/autograd/tensor.h>

/// Running results along a dimension, and integrals, composed of the ops of ops.h. The results of
/// the first four functions have the shape of self. All throw std::out_of_range for a dimension
/// that self does not have.
namespace halfgrad {

/// y_i = x_0 x_1 ... x_i along `dim`. self is converted to `dtype` first; by default it keeps its
/// dtype, and integers become int64 and wrap around. Floating-point products are computed in
/// float64 and rounded once. Takes log2(n) products of whole tensors, or n if products of
/// neighbours could overflow or underflow; the host decides, and waits for a GPU.
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// The largest (cummax) or smallest (cummin) of x_0, ..., x_i, and its index, int64: the last one
/// of equal elements. After a NaN all values are NaN. The gradient flows to the chosen elements.
std::tuple<Tensor, Tensor> cummax(const Tensor& self, std::int64_t dim);
std::tuple<Tensor, Tensor> cummin(const Tensor& self, std::int64_t dim);
/// log(exp(x_0) + ... + exp(x_i)), without overflow, computed in float64 and rounded once. Throws
/// std::invalid_argument for integers.
Tensor logcumsumexp(const Tensor& self, std::int64_t dim);

/// x_(i+1) - x_i along `dim`, n times; for bool the exclusive or. `prepend` and `append` are joined
/// to self first. If n is larger than the size, the result is empty. float16 and bfloat16 are
/// rounded once. Throws std::invalid_argument for n < 0 and for a tensor without dimensions.
Tensor diff(const Tensor& self, std::int64_t n = 1, std::int64_t dim = -1,
            const Tensor& prepend = {}, const Tensor& append = {});

/// The integral of y along `dim` by the trapezoidal rule, at the points x, or at points `dx` apart:
///
///     sum_i (x_(i+1) - x_i) (y_i + y_(i+1)) / 2
///
/// x is a vector of y's size along `dim`, or has that size there and broadcasts to y. Integers give
/// float32, and 16-bit results are rounded once. Throws std::invalid_argument for other shapes, for
/// a tensor without dimensions and for bool.
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1);
Tensor trapezoid(const Tensor& y, Scalar dx = 1, std::int64_t dim = -1);
/// The former name of trapezoid().
Tensor trapz(const Tensor& y, const Tensor& x, std::int64_t dim = -1);
Tensor trapz(const Tensor& y, double dx = 1, std::int64_t dim = -1);

}  // namespace halfgrad
