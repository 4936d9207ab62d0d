#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/logistic.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x s,  s = 1 / (1 + e^-x), elementwise
// dy/dx = s (1 + x (1 - s))
struct Silu : ElementwiseDefaults {
  static constexpr auto name = "silu";
  static constexpr double low = -8, high = 8, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return x * logistic(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    const T s = logistic(x);
    return s * (T(1) + x * (T(1) - s));
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) {
    return a.mul(x, logistic_reference(a, x));
  }
};

}  // namespace

OpEntry silu_entry() {
  return elementwise_entry(Silu{}, [](const Tensor& x) { return silu(x); });
}

}  // namespace detail

Tensor silu(const Tensor& self) { return detail::apply_elementwise(detail::Silu{}, self); }

}  // namespace halfgrad
