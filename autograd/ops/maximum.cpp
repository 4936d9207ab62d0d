#include <cmath>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/division_operands.h>

namespace halfgrad {
namespace detail {
namespace {

// y = max(a, b), elementwise; a and b broadcast
// dy/da = 1 for a > b, 1/2 for a = b, else 0;  dy/db with a and b exchanged
struct Maximum : ElementwiseDefaults {
  static constexpr auto name = "maximum";
  static constexpr bool masks_gradient = true;
  static constexpr bool integers = true;
  static constexpr double low = -2, high = 2, roundoffs = 0;

  template <class T>
  HG_HD T value(T a, T b) const {
    return math::maximum(a, b);
  }
  template <class T>
  HG_HD T slope_a(T a, T b, T) const {
    return select(a == b, T(0.5), select(a < b, T(0), T(1)));
  }
  template <class T>
  HG_HD T slope_b(T a, T b, T y) const {
    return slope_a(b, a, y);
  }
  static double reference(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
  }
};

// y = min(a, b), elementwise; a and b broadcast
// dy/da = 1 for a < b, 1/2 for a = b, else 0;  dy/db with a and b exchanged
struct Minimum : ElementwiseDefaults {
  static constexpr auto name = "minimum";
  static constexpr bool masks_gradient = true;
  static constexpr bool integers = true;
  static constexpr double low = -2, high = 2, roundoffs = 0;

  template <class T>
  HG_HD T value(T a, T b) const {
    return math::minimum(a, b);
  }
  template <class T>
  HG_HD T slope_a(T a, T b, T) const {
    return select(a == b, T(0.5), select(a > b, T(0), T(1)));
  }
  template <class T>
  HG_HD T slope_b(T a, T b, T y) const {
    return slope_a(b, a, y);
  }
  static double reference(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
  }
};

}  // namespace

OpEntry maximum_entry() {
  return elementwise_entry(Maximum{},
                           [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
}
OpEntry minimum_entry() {
  return elementwise_entry(Minimum{},
                           [](const Tensor& a, const Tensor& b) { return minimum(a, b); });
}

}  // namespace detail

namespace {

// A 0-dimensional operand may have more bits than the result. It is wrapped before the comparison:
// the larger of two values need not be the larger one after both are wrapped.
template <class F>
Tensor larger_or_smaller(const F& f, const Tensor& self, const Tensor& other) {
  if (self.dtype() == other.dtype() || self.is_floating_point() || other.is_floating_point()) {
    return detail::apply_elementwise(f, self, other);
  }
  const auto [a, b] = detail::in_one_dtype(self, other);
  return detail::apply_elementwise(f, a, b);
}

}  // namespace

Tensor maximum(const Tensor& self, const Tensor& other) {
  return larger_or_smaller(detail::Maximum{}, self, other);
}
Tensor minimum(const Tensor& self, const Tensor& other) {
  return larger_or_smaller(detail::Minimum{}, self, other);
}

}  // namespace halfgrad
