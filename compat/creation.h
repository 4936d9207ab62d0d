#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/losses.h>

/// libtorch's rarer ways to make a tensor, and questions about dtypes and single elements.
namespace halfgrad {

/// A 0-dimensional tensor of float32, unless the options name another dtype.
Tensor scalar_tensor(Scalar value, const TensorOptions& options = {});
// libtorch's last argument, which changes nothing.
inline Tensor empty(const Shape& sizes, const TensorOptions& options,
                    MemoryFormat /*memory_format*/) {
  return empty(sizes, options);
}
inline Tensor empty_like(const Tensor& self, const TensorOptions& options,
                         MemoryFormat /*memory_format*/) {
  return empty_like(self, options);
}
inline Tensor zeros_like(const Tensor& self, const TensorOptions& options,
                         MemoryFormat /*memory_format*/) {
  return zeros_like(self, options);
}
inline Tensor ones_like(const Tensor& self, const TensorOptions& options,
                        MemoryFormat /*memory_format*/) {
  return ones_like(self, options);
}
/// `steps` values from base^start to base^end, whose logarithms are evenly spaced.
Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base = 10,
                const TensorOptions& options = {});
/// Normal elements of this shape. Throws std::invalid_argument for a negative std.
Tensor normal(double mean, double std, const Shape& sizes, const TensorOptions& options = {});
/// A normal element for each mean, for each deviation, or for each pair of the two, which
/// broadcast.
Tensor normal(const Tensor& mean, double std = 1);
Tensor normal(double mean, const Tensor& std);
Tensor normal(const Tensor& mean, const Tensor& std);
/// Integers on [low, high) in the shape, dtype and device of `self`.
Tensor randint_like(const Tensor& self, std::int64_t high);
Tensor randint_like(const Tensor& self, std::int64_t low, std::int64_t high);
/// 1 with the probability that the element of `self` states, else 0, in its dtype. Throws
/// std::invalid_argument for a probability outside [0, 1]; on a GPU the host waits for that check.
Tensor bernoulli(const Tensor& self);
Tensor bernoulli(const Tensor& self, double p);

/// Whether the only element is not 0. Throws std::invalid_argument unless there is one.
bool is_nonzero(const Tensor& self);
inline std::int64_t numel(const Tensor& self) { return self.numel(); }
/// The dtype of `a + b`.
DType result_type(const Tensor& a, const Tensor& b);
DType result_type(const Tensor& a, Scalar b);
DType result_type(Scalar a, const Tensor& b);
/// Whether a result of dtype `from` may be written into a tensor of dtype `to`: not from floating
/// point to integers, nor from either to bool.
constexpr bool can_cast(DType from, DType to) { return kind_rank(from) <= kind_rank(to); }

/// cross_entropy(), with libtorch's order of arguments.
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = kMean, std::int64_t ignore_index = -100,
                          double label_smoothing = 0);

}  // namespace halfgrad
