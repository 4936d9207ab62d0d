#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = erf(x) = 2 / sqrt(pi) (integral of e^(-t^2) from 0 to x), elementwise
// dy/dx = 2 / sqrt(pi) e^(-x^2)
struct Erf : ElementwiseDefaults {
  static constexpr auto name = "erf";
  static constexpr double low = -4, high = 4, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::erf(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    constexpr double kTwoOverSqrtPi = 1.1283791670955126;
    return T(kTwoOverSqrtPi) * math::exp(-x * x);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.erf(x); }
};

}  // namespace

OpEntry erf_entry() {
  return elementwise_entry(
      Erf{}, [](const Tensor& x) { return erf(x); }, &Tensor::erf, &Tensor::erf_);
}

}  // namespace detail

Tensor erf(const Tensor& self) { return detail::apply_elementwise(detail::Erf{}, self); }
Tensor detail::UnaryMethods::erf() const { return halfgrad::erf(self()); }
Tensor& detail::UnaryMethods::erf_() const { return apply_in_place<Erf>(self(), halfgrad::erf); }

}  // namespace halfgrad
