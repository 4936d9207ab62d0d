#pragma once

#include <utility>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// The gradient of a tensor as a value that can be assigned: `x.mutable_grad() = g` is
/// `x.set_grad(g)`, with its checks.
class MutableGrad {
 public:
  explicit MutableGrad(Tensor owner) : owner_(std::move(owner)) {}
  const MutableGrad& operator=(
      const Tensor& grad) const {  // NOLINT(misc-unconventional-assign-operator)
    owner_.set_grad(grad);
    return *this;
  }
  operator Tensor() const { return owner_.grad(); }
  bool defined() const { return owner_.grad().defined(); }
  /// Drops the gradient.
  void reset() const { owner_.set_grad({}); }

 private:
  Tensor owner_;
};

inline MutableGrad detail::TensorMethods::mutable_grad() const {
  return MutableGrad(static_cast<const Tensor&>(*this));
}

}  // namespace halfgrad
