#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = sin(x), elementwise
// dy/dx = cos(x)
struct Sin : ElementwiseDefaults {
  static constexpr auto name = "sin";
  static constexpr double low = -10, high = 10, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return math::sin(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return math::cos(x);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.sin(x); }
};

// y = cos(x), elementwise
// dy/dx = -sin(x)
struct Cos : ElementwiseDefaults {
  static constexpr auto name = "cos";
  static constexpr double low = -10, high = 10, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return math::cos(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return -math::sin(x);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.cos(x); }
};

// y = tan(x), elementwise
// dy/dx = 1 + y^2
struct Tan : ElementwiseDefaults {
  static constexpr auto name = "tan";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -1.25, high = 1.25, roundoffs = 4;  // 2 ulp, like CUDA's tan

  template <class T>
  HG_HD T value(T x) const {
    return math::tan(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return T(1) + y * y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.tan(x); }
};

}  // namespace

OpEntry sin_entry() {
  return elementwise_entry(
      Sin{}, [](const Tensor& x) { return sin(x); }, &Tensor::sin, &Tensor::sin_);
}
OpEntry cos_entry() {
  return elementwise_entry(
      Cos{}, [](const Tensor& x) { return cos(x); }, &Tensor::cos, &Tensor::cos_);
}
OpEntry tan_entry() {
  return elementwise_entry(
      Tan{}, [](const Tensor& x) { return tan(x); }, &Tensor::tan, &Tensor::tan_);
}

}  // namespace detail

Tensor sin(const Tensor& self) { return detail::apply_elementwise(detail::Sin{}, self); }
Tensor detail::UnaryMethods::sin() const { return halfgrad::sin(self()); }
Tensor& detail::UnaryMethods::sin_() const { return apply_in_place<Sin>(self(), halfgrad::sin); }
Tensor cos(const Tensor& self) { return detail::apply_elementwise(detail::Cos{}, self); }
Tensor detail::UnaryMethods::cos() const { return halfgrad::cos(self()); }
Tensor& detail::UnaryMethods::cos_() const { return apply_in_place<Cos>(self(), halfgrad::cos); }
Tensor tan(const Tensor& self) { return detail::apply_elementwise(detail::Tan{}, self); }
Tensor detail::UnaryMethods::tan() const { return halfgrad::tan(self()); }
Tensor& detail::UnaryMethods::tan_() const { return apply_in_place<Tan>(self(), halfgrad::tan); }

}  // namespace halfgrad
