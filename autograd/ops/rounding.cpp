#include <cmath>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x, rounded to an integer, or its sign, elementwise
// dy/dx = 0, even for an infinite dy
struct PiecewiseConstant : ElementwiseDefaults {
  static constexpr unsigned saves = kSavesNothing;
  static constexpr bool masks_gradient = true;
  static constexpr double low = -4, high = 4, roundoffs = 0;

  template <class T>
  HG_HD T slope(T, T) const {
    return T(0);
  }
};

struct Floor : PiecewiseConstant {
  static constexpr auto name = "floor";
  template <class T>
  HG_HD T value(T x) const {
    return math::floor(x);
  }
  static double reference(double x) { return std::floor(x); }
};

struct Ceil : PiecewiseConstant {
  static constexpr auto name = "ceil";
  template <class T>
  HG_HD T value(T x) const {
    return -math::floor(-x);
  }
  static double reference(double x) { return std::ceil(x); }
};

struct Trunc : PiecewiseConstant {
  static constexpr auto name = "trunc";
  template <class T>
  HG_HD T value(T x) const {
    return math::trunc(x);
  }
  static double reference(double x) { return std::trunc(x); }
};

// Rounds up if the fraction is above 1/2, or if it is 1/2 and the integer below is odd.
struct Round : PiecewiseConstant {
  static constexpr auto name = "round";
  template <class T>
  HG_HD T value(T x) const {
    const T below = math::floor(math::abs(x));
    const T fraction = math::abs(x) - below;
    const T half = T(0.5) * below;
    const mask_t<T> up = (fraction > T(0.5)) | ((fraction == T(0.5)) & (math::floor(half) != half));
    return math::copysign(below + select(up, T(1), T(0)), x);
  }
  static double reference(double x) { return std::nearbyint(x); }
};

struct Sign : PiecewiseConstant {
  static constexpr auto name = "sign";
  static constexpr bool integers = true;
  template <class T>
  HG_HD T value(T x) const {
    return select(x > T(0), T(1), select(x < T(0), T(-1), T(0)));
  }
  static double reference(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
};

template <class F>
Tensor rounded(const F& f, const Tensor& self) {
  return self.is_floating_point() ? apply_elementwise(f, self) : clone(self);
}

}  // namespace

OpEntry floor_entry() {
  return elementwise_entry(
      Floor{}, [](const Tensor& x) { return floor(x); }, &Tensor::floor, &Tensor::floor_);
}
OpEntry ceil_entry() {
  return elementwise_entry(
      Ceil{}, [](const Tensor& x) { return ceil(x); }, &Tensor::ceil, &Tensor::ceil_);
}
OpEntry round_entry() {
  return elementwise_entry(
      Round{}, [](const Tensor& x) { return round(x); }, &Tensor::round, &Tensor::round_);
}
OpEntry trunc_entry() {
  return elementwise_entry(
      Trunc{}, [](const Tensor& x) { return trunc(x); }, &Tensor::trunc, &Tensor::trunc_);
}
OpEntry sign_entry() {
  return elementwise_entry(
      Sign{}, [](const Tensor& x) { return sign(x); }, &Tensor::sign, &Tensor::sign_);
}

}  // namespace detail

Tensor floor(const Tensor& self) { return detail::rounded(detail::Floor{}, self); }
Tensor detail::UnaryMethods::floor() const { return halfgrad::floor(self()); }
Tensor& detail::UnaryMethods::floor_() const {
  return apply_in_place<Floor>(self(), halfgrad::floor);
}
Tensor ceil(const Tensor& self) { return detail::rounded(detail::Ceil{}, self); }
Tensor detail::UnaryMethods::ceil() const { return halfgrad::ceil(self()); }
Tensor& detail::UnaryMethods::ceil_() const { return apply_in_place<Ceil>(self(), halfgrad::ceil); }
Tensor round(const Tensor& self) { return detail::rounded(detail::Round{}, self); }
Tensor detail::UnaryMethods::round() const { return halfgrad::round(self()); }
Tensor& detail::UnaryMethods::round_() const {
  return apply_in_place<Round>(self(), halfgrad::round);
}
Tensor trunc(const Tensor& self) { return detail::rounded(detail::Trunc{}, self); }
Tensor detail::UnaryMethods::trunc() const { return halfgrad::trunc(self()); }
Tensor& detail::UnaryMethods::trunc_() const {
  return apply_in_place<Trunc>(self(), halfgrad::trunc);
}
Tensor sign(const Tensor& self) { return detail::apply_elementwise(detail::Sign{}, self); }
Tensor detail::UnaryMethods::sign() const { return halfgrad::sign(self()); }
Tensor& detail::UnaryMethods::sign_() const { return apply_in_place<Sign>(self(), halfgrad::sign); }

}  // namespace halfgrad
