#include <halfgrad/autograd/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

struct Div : ElementwiseDefaults {
  static constexpr auto name = "div";
  static constexpr std::array reads = {kSavesInput << 1, kSavesInputs};
  static constexpr double low = -4, high = 4, low_b = 0.25, high_b = 4, roundoffs = 2;

  template <class T>
  HG_HD T value(T a, T b) const {
    return a / b;
  }
  template <class T>
  HG_HD T slope_a(T, T b, T) const {
    return T(1) / b;
  }
  template <class T>
  HG_HD T slope_b(T a, T b, T) const {
    return -a / b / b;  // b * b may be 0 or infinite
  }
  static double reference(double a, double b) { return a / b; }
};

// A number over a tensor, such as 1 / x: overflows in 16 bits as reciprocal does.
struct NumberOver : Div {
  static constexpr auto precision = Precision::wide_range;
};

}  // namespace

OpEntry div_entry() {
  return elementwise_entry(Div{}, [](const Tensor& a, const Tensor& b) { return div(a, b); });
}

}  // namespace detail

Tensor div(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Div{}, self, other);
}

Tensor operator/(Scalar a, const Tensor& b) {
  return detail::apply_elementwise(detail::NumberOver{}, detail::wrap(a, b.device()), b);
}

}  // namespace halfgrad
