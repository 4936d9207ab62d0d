#include <halfgrad/autograd/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

struct Add : ElementwiseDefaults {
  static constexpr auto name = "add";
  static constexpr unsigned saves = kSavesNothing;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 4;
  double alpha = 1;

  template <class T>
  HG_HD T value(T a, T b) const {
    return alpha == 1 ? a + b : a + T(alpha) * b;
  }
  template <class T>
  HG_HD T slope_a(T, T, T) const {
    return T(1);
  }
  template <class T>
  HG_HD T slope_b(T, T, T) const {
    return T(alpha);
  }
  double reference(double a, double b) const { return a + alpha * b; }
};

struct Mul : ElementwiseDefaults {
  static constexpr auto name = "mul";
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 1;

  template <class T>
  HG_HD T value(T a, T b) const {
    return a * b;
  }
  template <class T>
  HG_HD T slope_a(T, T b, T) const {
    return b;
  }
  template <class T>
  HG_HD T slope_b(T a, T, T) const {
    return a;
  }
  static double reference(double a, double b) { return a * b; }
};

struct Div : ElementwiseDefaults {
  static constexpr auto name = "div";
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
    return -a / (b * b);
  }
  static double reference(double a, double b) { return a / b; }
};

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

OpEntry add_entry() {
  OpEntry entry =
      elementwise_entry(Add{}, [](const Tensor& a, const Tensor& b) { return add(a, b); });
  add_examples(
      entry, Add{{}, -0.3}, [](const Tensor& a, const Tensor& b) { return add(a, b, -0.3); },
      "alpha -0.3");
  return entry;
}
OpEntry mul_entry() {
  return elementwise_entry(Mul{}, [](const Tensor& a, const Tensor& b) { return mul(a, b); });
}
OpEntry div_entry() {
  return elementwise_entry(Div{}, [](const Tensor& a, const Tensor& b) { return div(a, b); });
}
OpEntry neg_entry() {
  return elementwise_entry(Neg{}, [](const Tensor& x) { return neg(x); });
}

void add_into(const Array& target, const Array& source) {
  elementwise(ValueKernel<Add>{}, promote_types(target.dtype(), source.dtype()), target, target,
              source);
}

}  // namespace detail

Tensor add(const Tensor& self, const Tensor& other, Scalar alpha) {
  return detail::apply_elementwise(detail::Add{{}, alpha.value()}, self, other);
}
Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha) {
  return detail::apply_elementwise(detail::Add{{}, -alpha.value()}, self, other);
}
Tensor mul(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Mul{}, self, other);
}
Tensor div(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Div{}, self, other);
}
Tensor neg(const Tensor& self) { return detail::apply_elementwise(detail::Neg{}, self); }

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
Tensor operator-(const Tensor& a) { return neg(a); }
Tensor operator+(const Tensor& a, Scalar b) { return add(a, detail::wrap(b, a.device())); }
Tensor operator-(const Tensor& a, Scalar b) { return sub(a, detail::wrap(b, a.device())); }
Tensor operator*(const Tensor& a, Scalar b) { return mul(a, detail::wrap(b, a.device())); }
Tensor operator/(const Tensor& a, Scalar b) { return div(a, detail::wrap(b, a.device())); }
Tensor operator+(Scalar a, const Tensor& b) { return add(detail::wrap(a, b.device()), b); }
Tensor operator-(Scalar a, const Tensor& b) { return sub(detail::wrap(a, b.device()), b); }
Tensor operator*(Scalar a, const Tensor& b) { return mul(detail::wrap(a, b.device()), b); }
Tensor operator/(Scalar a, const Tensor& b) { return div(detail::wrap(a, b.device()), b); }

}  // namespace halfgrad
