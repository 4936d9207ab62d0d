#include <cstdint>
#include <type_traits>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// base^exponent by repeated squaring. A negative exponent gives 0 unless the base is 1 or -1, as in
// integer division.
template <class T>
HG_HD T integer_power(T base, T exponent) {
  const auto negative = exponent < T(0);
  const auto unit = (base == T(1)) | (base == T(-1));
  T square = select(negative, select(unit, base, T(0)), base);
  T result = T(1);
  for (T rest = exponent; any(rest != T(0)); rest = rest / T(2)) {
    result = select(rest / T(2) * T(2) != rest, result * square, result);
    square = square * square;
  }
  return result;
}

// Exponents whose powers need no logarithm.
enum class Exponent { any, one, two, three, half, minus_half, minus_one, minus_two };

Exponent exponent_of(const Scalar& exponent) {
  const auto p = exponent.to<double>();
  if (p == 1) return Exponent::one;
  if (p == 2) return Exponent::two;
  if (p == 3) return Exponent::three;
  if (p == 0.5) return Exponent::half;
  if (p == -0.5) return Exponent::minus_half;
  if (p == -1) return Exponent::minus_one;
  if (p == -2) return Exponent::minus_two;
  return Exponent::any;
}

// a^known, where b holds the same exponent. These are PyTorch's formulas: unlike std::pow(), the
// square root of -0 is -0, and that of -infinity is NaN.
template <class T>
HG_HD T floating_power(T a, T b, Exponent known) {
  switch (known) {
    case Exponent::one:
      return a;
    case Exponent::two:
      return a * a;
    case Exponent::three:
      return a * a * a;
    case Exponent::half:
      return math::sqrt(a);
    case Exponent::minus_half:
      return math::rsqrt(a);
    case Exponent::minus_one:
      return T(1) / a;
    case Exponent::minus_two:
      return T(1) / (a * a);
    default:
      return math::pow(a, b);
  }
}

// a^(known - 1), where b holds the exponent `known`.
template <class T>
HG_HD T power_below(T a, T b, Exponent known) {
  switch (known) {
    case Exponent::one:
      return T(1);
    case Exponent::two:
      return a;
    case Exponent::three:
      return a * a;
    case Exponent::half:
      return math::rsqrt(a);
    case Exponent::minus_one: {
      const T inverse = T(1) / a;
      return inverse * inverse;
    }
    default:
      return math::pow(a, b - T(1));
  }
}

// y = a^b, elementwise; a and b broadcast. `known` is the value of every element of b, if it is one
// of the listed exponents: a multiplication is up to 100 times as fast as a logarithm.
// dy/da = b a^(b-1), 0 for b = 0
// dy/db = a^b log(a), 0 for a = 0 and b >= 0
struct Pow : ElementwiseDefaults {
  static constexpr auto name = "pow";
  static constexpr auto precision = Precision::wide_range;
  static constexpr bool integers = true;
  static constexpr double low = 0.25, high = 3, low_b = -2, high_b = 2, roundoffs = 4;
  Exponent known = Exponent::any;

  template <class T>
  HG_HD T value(T a, T b) const {
    if constexpr (std::is_integral_v<scalar_t<T>>) {
      return known == Exponent::two ? a * a : integer_power(a, b);
    } else {
      return floating_power(a, b, known);
    }
  }
  template <class T>
  HG_HD T slope_a(T a, T b, T) const {
    return b * power_below(a, b, known);
  }
  template <class T>
  HG_HD auto stops_a(T, T b) const {
    return b == T(0);
  }
  template <class T>
  HG_HD T slope_b(T a, T b, T) const {  // y is not saved: dy/db is rarely needed
    return select((a == T(0)) & (b >= T(0)), T(0), math::pow(a, b) * math::log(a));
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y) { return a.pow(x, y); }
};

}  // namespace

OpEntry pow_entry() {
  return elementwise_entry(Pow{}, [](const Tensor& a, const Tensor& b) { return pow(a, b); });
}

}  // namespace detail

Tensor pow(const Tensor& self, const Tensor& exponent) {
  return detail::apply_elementwise(detail::Pow{}, self, exponent);
}
Tensor pow(const Tensor& self, Scalar exponent) {
  const bool integers = !self.is_floating_point() && !is_floating_point(exponent.kind());
  if (integers && exponent.to<std::int64_t>() < 0) {
    detail::fail("pow", "expected an exponent >= 0 for {} tensors, got {}", self.dtype(),
                 exponent.to<std::int64_t>());
  }
  return detail::apply_elementwise(detail::Pow{{}, detail::exponent_of(exponent)}, self,
                                   detail::wrap(exponent, self.device()));
}
Tensor pow(Scalar self, const Tensor& exponent) {
  return pow(detail::wrap(self, exponent.device()), exponent);
}

}  // namespace halfgrad
