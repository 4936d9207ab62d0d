#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = tanh(x), elementwise
// dy/dx = 1 - y^2
struct Tanh : ElementwiseDefaults {
  static constexpr auto name = "tanh";
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -4, high = 4, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::tanh(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return T(1) - y * y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.tanh(x); }
};

}  // namespace

OpEntry tanh_entry() {
  return elementwise_entry(
      Tanh{}, [](const Tensor& x) { return tanh(x); }, &Tensor::tanh, &Tensor::tanh_);
}

}  // namespace detail

Tensor tanh(const Tensor& self) { return detail::apply_elementwise(detail::Tanh{}, self); }
Tensor detail::UnaryMethods::tanh() const { return halfgrad::tanh(self()); }
Tensor& detail::UnaryMethods::tanh_() const { return apply_in_place<Tanh>(self(), halfgrad::tanh); }

}  // namespace halfgrad
