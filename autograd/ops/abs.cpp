#include <cmath>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = |x|, elementwise
// dy/dx = sign(x), 0 at x = 0
struct Abs : ElementwiseDefaults {
  static constexpr auto name = "abs";
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 0;

  template <class T>
  HG_HD T value(T x) const {
    return math::abs(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return select(x > T(0), T(1), select(x < T(0), T(-1), T(0)));
  }
  static double reference(double x) { return std::fabs(x); }
};

}  // namespace

OpEntry abs_entry() {
  return elementwise_entry(
      Abs{}, [](const Tensor& x) { return abs(x); }, &Tensor::abs, &Tensor::abs_);
}

}  // namespace detail

Tensor abs(const Tensor& self) { return detail::apply_elementwise(detail::Abs{}, self); }
Tensor detail::UnaryMethods::abs() const { return halfgrad::abs(self()); }
Tensor& detail::UnaryMethods::abs_() const { return apply_in_place<Abs>(self(), halfgrad::abs); }

}  // namespace halfgrad
