#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/autograd/tensor/composed_methods.h>

namespace halfgrad {

class Tensor;

namespace detail {

/// Methods that only programs for libtorch need: second names of other methods, and forms in place
/// that are rare. The library of the folder compat defines them.
class LibtorchMethods : public ComposedMethods {
 public:
  // --- Second names, as in compat/second_names.h ---
  Tensor absolute() const;
  Tensor negative() const;
  Tensor fix() const;
  /// A view of all elements.
  Tensor alias() const;
  Tensor sgn() const;
  Tensor& absolute_() const;
  Tensor& negative_() const;
  Tensor& fix_() const;
  Tensor& sgn_() const;
  Tensor subtract(const Tensor& other, Scalar alpha = 1) const;
  Tensor subtract(Scalar other, Scalar alpha = 1) const;
  Tensor multiply(const Tensor& other) const;
  Tensor multiply(Scalar other) const;
  Tensor divide(const Tensor& other) const;
  Tensor divide(Scalar other) const;
  Tensor true_divide(const Tensor& other) const;
  Tensor true_divide(Scalar other) const;
  Tensor greater(const Tensor& other) const;
  Tensor greater(Scalar other) const;
  Tensor greater_equal(const Tensor& other) const;
  Tensor greater_equal(Scalar other) const;
  Tensor less(const Tensor& other) const;
  Tensor less(Scalar other) const;
  Tensor less_equal(const Tensor& other) const;
  Tensor less_equal(Scalar other) const;
  Tensor not_equal(const Tensor& other) const;
  Tensor not_equal(Scalar other) const;
  Tensor& subtract_(const Tensor& other, Scalar alpha = 1) const;
  Tensor& subtract_(Scalar other, Scalar alpha = 1) const;
  Tensor& multiply_(const Tensor& other) const;
  Tensor& multiply_(Scalar other) const;
  Tensor& divide_(const Tensor& other) const;
  Tensor& divide_(Scalar other) const;

  // --- In place: 1 and 0 in the dtype of this tensor, whose gradient is 0 ---
  Tensor& eq_(const Tensor& other) const;
  Tensor& eq_(Scalar other) const;
  Tensor& ne_(const Tensor& other) const;
  Tensor& ne_(Scalar other) const;
  Tensor& lt_(const Tensor& other) const;
  Tensor& lt_(Scalar other) const;
  Tensor& le_(const Tensor& other) const;
  Tensor& le_(Scalar other) const;
  Tensor& gt_(const Tensor& other) const;
  Tensor& gt_(Scalar other) const;
  Tensor& ge_(const Tensor& other) const;
  Tensor& ge_(Scalar other) const;
  Tensor& logical_and_(const Tensor& other) const;
  Tensor& logical_or_(const Tensor& other) const;
  Tensor& logical_xor_(const Tensor& other) const;
  Tensor& logical_not_() const;

  // --- In place ---
  Tensor& cumsum_(std::int64_t dim) const;
  Tensor& cumprod_(std::int64_t dim) const;
  Tensor& asin_() const;
  Tensor& acos_() const;
  Tensor& atan_() const;
  Tensor& asinh_() const;
  Tensor& acosh_() const;
  Tensor& atanh_() const;
  Tensor& sinh_() const;
  Tensor& cosh_() const;
  Tensor& sinc_() const;
  Tensor& frac_() const;
  Tensor& deg2rad_() const;
  Tensor& rad2deg_() const;
  Tensor& swapaxes_(std::int64_t axis0, std::int64_t axis1) const;
  Tensor& swapdims_(std::int64_t dim0, std::int64_t dim1) const;
  Tensor& addmv_(const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1) const;
  /// Scales each slice along `dim` whose p-norm exceeds maxnorm to that norm.
  Tensor& renorm_(Scalar p, std::int64_t dim, Scalar maxnorm) const;
  Tensor renorm(Scalar p, std::int64_t dim, Scalar maxnorm) const;
  /// resize_() to the shape of `other`.
  Tensor& resize_as_(const Tensor& other) const;

  // --- Others ---
  Tensor index_put(const std::vector<indexing::TensorIndex>& indices, const Tensor& values,
                   bool accumulate = false) const;
  Tensor isposinf() const;
  Tensor isneginf() const;
  /// The name of libtorch's class, such as "CPUFloatType".
  std::string toString() const;  // NOLINT(readability-identifier-naming): libtorch's name

 protected:
  LibtorchMethods() = default;
};

}  // namespace detail
}  // namespace halfgrad
