#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/logistic.h>

namespace halfgrad {
namespace detail {
namespace {

// y = 1 / (1 + e^-x), elementwise
// dy/dx = y (1 - y)
struct Sigmoid : ElementwiseDefaults {
  static constexpr auto name = "sigmoid";
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -8, high = 8, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return logistic(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return y * (T(1) - y);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return logistic_reference(a, x); }
};

}  // namespace

OpEntry sigmoid_entry() {
  return elementwise_entry(
      Sigmoid{}, [](const Tensor& x) { return sigmoid(x); }, &Tensor::sigmoid, &Tensor::sigmoid_);
}

}  // namespace detail

Tensor sigmoid(const Tensor& self) { return detail::apply_elementwise(detail::Sigmoid{}, self); }
Tensor detail::UnaryMethods::sigmoid() const { return halfgrad::sigmoid(self()); }
Tensor& detail::UnaryMethods::sigmoid_() const {
  return apply_in_place<Sigmoid>(self(), halfgrad::sigmoid);
}

}  // namespace halfgrad
