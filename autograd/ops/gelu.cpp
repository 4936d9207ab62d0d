#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/gelu_reference.h>
#include <halfgrad/autograd/ops/shared/gelu_tanh.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x Phi(x),  Phi(x) = (1 + erf(x / sqrt(2))) / 2, elementwise (Hendrycks and Gimpel 2016)
// dy/dx = Phi(x) + x phi(x),  phi(x) = e^(-x^2 / 2) / sqrt(2 pi)
struct Gelu : ElementwiseDefaults {
  static constexpr auto name = "gelu";
  static constexpr double low = -6, high = 6, roundoffs = 4;
  static constexpr double kSqrtHalf = 0.70710678118654752;
  static constexpr double kOneOverSqrtTwoPi = 0.39894228040143268;

  template <class T>
  HG_HD static T normal_cdf(T x) {
    return T(0.5) * (T(1) + math::erf(T(kSqrtHalf) * x));
  }
  template <class T>
  HG_HD T value(T x) const {
    return x * normal_cdf(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return normal_cdf(x) + x * (T(kOneOverSqrtTwoPi) * math::exp(T(-0.5) * x * x));
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return gelu_reference(a, x); }
};

}  // namespace

OpEntry gelu_entry() {
  OpEntry entry = elementwise_entry(Gelu{}, [](const Tensor& x) { return gelu(x); });
  add_examples(
      entry, GeluTanh{}, [](const Tensor& x) { return gelu(x, "tanh"); }, "tanh");
  return entry;
}

}  // namespace detail

Tensor gelu(const Tensor& self, const std::string& approximate) {
  if (approximate == "tanh") return detail::apply_elementwise(detail::GeluTanh{}, self);
  if (approximate == "none") return detail::apply_elementwise(detail::Gelu{}, self);
  detail::fail("gelu", "expected approximate to be 'none' or 'tanh', got '{}'", approximate);
}

}  // namespace halfgrad
