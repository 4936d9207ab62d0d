#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <halfgrad/autograd/unary_ops.h>
#include <halfgrad/core/numbers/scalar.h>

namespace halfgrad {

class Tensor;
namespace indexing {
class TensorIndex;
}

namespace detail {

/// The methods of Tensor whose name ends in _, with those of unary_ops.h: each does in place what
/// the method without the _ does, keeps the tensor's dtype, and returns the tensor. They are const,
/// as in libtorch, because a Tensor is a handle.
class InPlaceMethods : public UnaryMethods {
 public:
  Tensor& add_(const Tensor& other, Scalar alpha = 1) const;
  Tensor& sub_(const Tensor& other, Scalar alpha = 1) const;
  Tensor& mul_(const Tensor& other) const;
  Tensor& div_(const Tensor& other) const;
  Tensor& add_(Scalar other, Scalar alpha = 1) const;
  Tensor& sub_(Scalar other, Scalar alpha = 1) const;
  Tensor& mul_(Scalar other) const;
  Tensor& div_(Scalar other) const;
  Tensor& div_(const Tensor& other, std::optional<std::string_view> rounding_mode) const;
  Tensor& div_(Scalar other, std::optional<std::string_view> rounding_mode) const;
  Tensor& floor_divide_(const Tensor& other) const;
  Tensor& floor_divide_(Scalar other) const;
  Tensor& remainder_(const Tensor& other) const;
  Tensor& remainder_(Scalar other) const;
  Tensor& fmod_(const Tensor& other) const;
  Tensor& fmod_(Scalar other) const;
  Tensor& operator+=(const Tensor& other) const { return add_(other); }
  Tensor& operator-=(const Tensor& other) const { return sub_(other); }
  Tensor& operator*=(const Tensor& other) const { return mul_(other); }
  Tensor& operator/=(const Tensor& other) const { return div_(other); }
  Tensor& operator+=(Scalar other) const { return add_(other); }
  Tensor& operator-=(Scalar other) const { return sub_(other); }
  Tensor& operator*=(Scalar other) const { return mul_(other); }
  Tensor& operator/=(Scalar other) const { return div_(other); }
  /// Logical and, or and xor of bool tensors, and of the bits of integers.
  Tensor& operator&=(const Tensor& other) const;
  Tensor& operator|=(const Tensor& other) const;
  Tensor& operator^=(const Tensor& other) const;
  Tensor& pow_(const Tensor& exponent) const;
  Tensor& pow_(Scalar exponent) const;
  Tensor& clamp_(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) const;
  Tensor& clamp_(const Tensor& min) const;
  Tensor& clamp_(const Tensor& min, const Tensor& max) const;
  /// clamp_() by NumPy's name.
  Tensor& clip_(std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) const;
  Tensor& clamp_min_(Scalar min) const;
  Tensor& clamp_max_(Scalar max) const;
  Tensor& clamp_min_(const Tensor& min) const;
  Tensor& clamp_max_(const Tensor& max) const;
  Tensor& lerp_(const Tensor& end, const Tensor& weight) const;
  Tensor& lerp_(const Tensor& end, Scalar weight) const;
  Tensor& addcmul_(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1) const;
  Tensor& addcdiv_(const Tensor& tensor1, const Tensor& tensor2, Scalar value = 1) const;
  Tensor& tril_(std::int64_t diagonal = 0) const;
  Tensor& triu_(std::int64_t diagonal = 0) const;
  Tensor& masked_fill_(const Tensor& mask, Scalar value) const;
  Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  /// x[...] = value, broadcast, or with `accumulate` x[...] += value. An element that the indices
  /// pick several times gets the last of its values, or their sum.
  Tensor& index_put_(const std::vector<indexing::TensorIndex>& indices, const Tensor& value,
                     bool accumulate = false) const;
  Tensor& index_put_(const std::vector<indexing::TensorIndex>& indices, Scalar value) const;
  Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta = 1, Scalar alpha = 1) const;
  Tensor& baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
                   Scalar alpha = 1) const;
  Tensor& copy_(const Tensor& source) const;
  Tensor& fill_(Scalar value) const;
  /// Throws std::invalid_argument unless `value` is 0-dim.
  Tensor& fill_(const Tensor& value) const;
  Tensor& zero_() const;
  /// Assign random elements, drawn from default_generator(); see core/random.h.
  Tensor& normal_(double mean = 0, double std = 1) const;
  Tensor& uniform_(double from = 0, double to = 1) const;
  Tensor& bernoulli_(double p = 0.5) const;
  /// The exponential distribution with mean 1 / lambd, and exp() of normal elements. Throw
  /// std::invalid_argument for integers, lambd <= 0 and std <= 0.
  Tensor& exponential_(double lambd = 1) const;
  Tensor& log_normal_(double mean = 1, double std = 2) const;
  /// Integers on [from, to). Without `to` up to the largest that the dtype holds, and, for a
  /// floating-point dtype, below which it holds every integer: 2^24 for float32.
  Tensor& random_() const;
  Tensor& random_(std::int64_t to) const { return random_(0, to); }
  Tensor& random_(std::int64_t from, std::int64_t to) const;

 protected:
  InPlaceMethods() = default;
};

}  // namespace detail
}  // namespace halfgrad
