#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = sqrt(x), elementwise
// dy/dx = 1 / (2 y)
struct Sqrt : ElementwiseDefaults {
  static constexpr auto name = "sqrt";
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = 0.1, high = 10, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return math::sqrt(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return T(0.5) / y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.sqrt(x); }
};

// y = 1 / sqrt(x), elementwise
// dy/dx = -1/2 x^(-3/2) = -1/2 y^3
struct Rsqrt : ElementwiseDefaults {
  static constexpr auto name = "rsqrt";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = 0.1, high = 10, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::rsqrt(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return T(-0.5) * y * y * y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.rsqrt(x); }
};

// y = 1 / x, elementwise
// dy/dx = -1 / x^2 = -y^2
struct Reciprocal : ElementwiseDefaults {
  static constexpr auto name = "reciprocal";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = 0.25, high = 4, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return T(1) / x;
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return -y * y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.div(a.number(1), x); }
};

// y = x^2, elementwise
// dy/dx = 2 x
struct Square : ElementwiseDefaults {
  static constexpr auto name = "square";
  static constexpr auto precision = Precision::wide_range;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return x * x;
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return x + x;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.mul(x, x); }
};

}  // namespace

OpEntry sqrt_entry() {
  return elementwise_entry(
      Sqrt{}, [](const Tensor& x) { return sqrt(x); }, &Tensor::sqrt, &Tensor::sqrt_);
}
OpEntry rsqrt_entry() {
  return elementwise_entry(
      Rsqrt{}, [](const Tensor& x) { return rsqrt(x); }, &Tensor::rsqrt, &Tensor::rsqrt_);
}
OpEntry reciprocal_entry() {
  return elementwise_entry(
      Reciprocal{}, [](const Tensor& x) { return reciprocal(x); }, &Tensor::reciprocal,
      &Tensor::reciprocal_);
}
OpEntry square_entry() {
  return elementwise_entry(
      Square{}, [](const Tensor& x) { return square(x); }, &Tensor::square, &Tensor::square_);
}

}  // namespace detail

Tensor sqrt(const Tensor& self) { return detail::apply_elementwise(detail::Sqrt{}, self); }
Tensor detail::UnaryMethods::sqrt() const { return halfgrad::sqrt(self()); }
Tensor& detail::UnaryMethods::sqrt_() const { return apply_in_place<Sqrt>(self(), halfgrad::sqrt); }
Tensor rsqrt(const Tensor& self) { return detail::apply_elementwise(detail::Rsqrt{}, self); }
Tensor detail::UnaryMethods::rsqrt() const { return halfgrad::rsqrt(self()); }
Tensor& detail::UnaryMethods::rsqrt_() const {
  return apply_in_place<Rsqrt>(self(), halfgrad::rsqrt);
}
Tensor reciprocal(const Tensor& self) {
  return detail::apply_elementwise(detail::Reciprocal{}, self);
}
Tensor detail::UnaryMethods::reciprocal() const { return halfgrad::reciprocal(self()); }
Tensor& detail::UnaryMethods::reciprocal_() const {
  return apply_in_place<Reciprocal>(self(), halfgrad::reciprocal);
}
Tensor square(const Tensor& self) {
  return detail::apply_elementwise(detail::Square{},
                                   self.dtype() == kBool ? to(self, kLong) : self);
}
Tensor detail::UnaryMethods::square() const { return halfgrad::square(self()); }
Tensor& detail::UnaryMethods::square_() const {
  return apply_in_place<Square>(self(), halfgrad::square);
}

}  // namespace halfgrad
