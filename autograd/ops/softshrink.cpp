#include <cmath>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x - lambd for x > lambd, x + lambd for x < -lambd, else 0;  dy/dx = 1, or 0 where y is 0.
// NaN stays NaN.
struct Softshrink : ElementwiseDefaults {
  static constexpr auto name = "softshrink";
  static constexpr bool masks_gradient = true;
  static constexpr double low = -4, high = 4, roundoffs = 2;
  double lambd = 0.5;

  template <class T>
  HG_HD T value(T x) const {
    const T shrunk = select(x > T(0), x - T(lambd), x + T(lambd));
    return select(math::abs(x) <= T(lambd), T(0), shrunk);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return select(math::abs(x) <= T(lambd), T(0), T(1));
  }
  Bounded reference(const AnyArithmetic& a, Bounded x) const {
    if (std::fabs(x.value) <= lambd) return a.number(0);
    return x.value > 0 ? a.sub(x, a.constant(lambd)) : a.add(x, a.constant(lambd));
  }
};

}  // namespace

OpEntry softshrink_entry() {
  OpEntry entry = elementwise_entry(Softshrink{}, [](const Tensor& x) { return softshrink(x); });
  add_examples(
      entry, Softshrink{{}, 1.3}, [](const Tensor& x) { return softshrink(x, 1.3); }, "lambd 1.3");
  return entry;
}

}  // namespace detail

Tensor softshrink(const Tensor& self, Scalar lambd) {
  const auto threshold = lambd.to<double>();
  if (!(threshold >= 0)) detail::fail("softshrink", "expected lambd >= 0, got {}", threshold);
  return detail::apply_elementwise(detail::Softshrink{{}, threshold}, self);
}

}  // namespace halfgrad
