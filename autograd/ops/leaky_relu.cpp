#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x for x > 0, else negative_slope x, elementwise
// dy/dx = 1 for x > 0, else negative_slope
struct LeakyRelu : ElementwiseDefaults {
  static constexpr auto name = "leaky_relu";
  static constexpr double low = -4, high = 4, roundoffs = 2;
  double negative_slope = 0.01;

  template <class T>
  HG_HD T value(T x) const {
    return select(x > T(0), x, T(negative_slope) * x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return select(x > T(0), T(1), T(negative_slope));
  }
  Bounded reference(const AnyArithmetic& a, Bounded x) const {
    return x.value > 0 ? x : a.mul(a.constant(negative_slope), x);
  }
};

}  // namespace

OpEntry leaky_relu_entry() {
  OpEntry entry = elementwise_entry(LeakyRelu{}, [](const Tensor& x) { return leaky_relu(x); });
  add_examples(
      entry, LeakyRelu{{}, -0.5}, [](const Tensor& x) { return leaky_relu(x, -0.5); },
      "slope -0.5");
  return entry;
}

}  // namespace detail

Tensor leaky_relu(const Tensor& self, Scalar negative_slope) {
  return detail::apply_elementwise(detail::LeakyRelu{{}, negative_slope.to<double>()}, self);
}

}  // namespace halfgrad
