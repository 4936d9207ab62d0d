#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x for x > 0, else alpha (e^x - 1), elementwise
// dy/dx = 1 for x > 0, else alpha e^x; its own derivative at 0 is 0, as in PyTorch
struct Elu : ElementwiseDefaults {
  static constexpr auto name = "elu";
  static constexpr double low = -8, high = 8, roundoffs = 4;
  double alpha = 1;

  template <class T>
  HG_HD T value(T x) const {
    return select(x > T(0), x, T(alpha) * math::expm1(x));
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    const T at_most_zero = select(x == T(0), T(alpha), T(alpha) * math::exp(x));
    return select(x > T(0), T(1), at_most_zero);
  }
  Bounded reference(const AnyArithmetic& a, Bounded x) const {
    return x.value > 0 ? x : scaled(a, a.expm1(x), alpha);
  }
};

}  // namespace

OpEntry elu_entry() {
  OpEntry entry = elementwise_entry(Elu{}, [](const Tensor& x) { return elu(x); });
  add_examples(
      entry, Elu{{}, 1.5}, [](const Tensor& x) { return elu(x, 1.5); }, "alpha 1.5");
  return entry;
}

}  // namespace detail

Tensor elu(const Tensor& self, Scalar alpha) {
  return detail::apply_elementwise(detail::Elu{{}, alpha.to<double>()}, self);
}

}  // namespace halfgrad
