#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = -x, elementwise
// dy/dx = -1
struct Neg : ElementwiseDefaults {
  static constexpr auto name = "neg";
  static constexpr unsigned saves = kSavesNothing;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 0;

  template <class T>
  HG_HD T value(T x) const {
    return -x;
  }
  template <class T>
  HG_HD T slope(T, T) const {
    return T(-1);
  }
  static double reference(double x) { return -x; }
};

}  // namespace

OpEntry neg_entry() {
  return elementwise_entry(
      Neg{}, [](const Tensor& x) { return neg(x); }, &Tensor::neg, &Tensor::neg_);
}

}  // namespace detail

Tensor neg(const Tensor& self) {
  if (self.dtype() == kBool) {
    detail::fail("neg",
                 "expected a numeric tensor, got a bool tensor; logical_not() inverts a mask");
  }
  return detail::apply_elementwise(detail::Neg{}, self);
}
Tensor detail::UnaryMethods::neg() const { return halfgrad::neg(self()); }
Tensor& detail::UnaryMethods::neg_() const { return apply_in_place<Neg>(self(), halfgrad::neg); }

}  // namespace halfgrad
