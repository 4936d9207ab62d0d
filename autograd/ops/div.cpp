#include <cmath>
#include <limits>

#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/division_operands.h>
#include <halfgrad/autograd/ops/shared/rounded_division.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a / b, elementwise; a and b broadcast
// dy/da = 1 / b,  dy/db = -a / b^2
struct Div : ElementwiseDefaults {
  static constexpr auto name = "div";
  static constexpr std::array reads = {operands(1), kSavesInputs};
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
    return -a / b / b;  // b * b may underflow or overflow
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y) { return a.div(x, y); }
};

// A Scalar over a tensor, such as 1 / x: overflows in 16 bits as reciprocal does.
struct ScalarOver : Div {
  static constexpr auto precision = Precision::wide_range;
};

// y = a / b, rounded to an integer
// dy/da = dy/db = 0, even for an infinite dy
struct RoundedDiv : Div {
  static constexpr unsigned saves = kSavesNothing;
  static constexpr bool masks_gradient = true;
  static constexpr bool integers = true;

  template <class T>
  HG_HD T slope_a(T, T, T) const {
    return T(0);
  }
  template <class T>
  HG_HD T slope_b(T, T, T) const {
    return T(0);
  }
};

struct TruncatedDiv : RoundedDiv {
  template <class T>
  HG_HD T value(T a, T b) const {
    return truncated_quotient(a, b);
  }
  static double reference(double a, double b) { return std::trunc(a / b); }
};

// Python's a // b, except that b = 0 is no error.
struct FlooredDiv : RoundedDiv {
  template <class T>
  HG_HD T value(T a, T b) const {
    return floored_quotient(a, b);
  }
  static double reference(double a, double b) {
    if (b == 0 || std::isnan(a)) return a / b;
    if (std::isinf(a)) return std::numeric_limits<double>::quiet_NaN();
    if (std::isinf(b)) return a != 0 && std::signbit(a) != std::signbit(b) ? -1 : a / b;
    return static_cast<double>(std::floor(static_cast<long double>(a) / b));
  }
};

}  // namespace

OpEntry div_entry() {
  OpEntry entry =
      elementwise_entry(Div{}, [](const Tensor& a, const Tensor& b) { return div(a, b); });
  add_examples(
      entry, TruncatedDiv{}, [](const Tensor& a, const Tensor& b) { return div(a, b, "trunc"); },
      "trunc");
  add_examples(
      entry, FlooredDiv{}, [](const Tensor& a, const Tensor& b) { return div(a, b, "floor"); },
      "floor");
  return entry;
}

}  // namespace detail

Tensor div(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Div{}, self, other);
}
Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div(self, other);
  if (*rounding_mode == "trunc") return detail::divide(detail::TruncatedDiv{}, self, other);
  if (*rounding_mode == "floor") return detail::divide(detail::FlooredDiv{}, self, other);
  detail::fail("div", "expected \"trunc\", \"floor\" or no rounding_mode, got \"{}\"",
               *rounding_mode);
}
Tensor floor_divide(const Tensor& self, const Tensor& other) {
  return detail::with_op_name("floor_divide", "div", [&] { return div(self, other, "floor"); });
}

Tensor operator/(Scalar a, const Tensor& b) {
  return detail::apply_elementwise(detail::ScalarOver{}, detail::wrap(a, b.device()), b);
}

}  // namespace halfgrad
