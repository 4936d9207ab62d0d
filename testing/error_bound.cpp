#include <halfgrad/testing/error_bound.h>

#include <halfgrad/testing/fast_math.h>

namespace halfgrad::testing {
namespace {

/// The error of functions without --use_fast_math: 2 ulps, as kFunctionRoundoffs says.
constexpr fast_math::Error kUsual{fast_math::roundoffs_of(2)};

}  // namespace

BoundedArithmetic::PartialSum BoundedArithmetic::products(const Elements& a,
                                                          const Elements& b) const {
  // TensorFloat-32 rounds both factors to 11 bits.
  const double narrow = leniency_.tf32 ? 2 * 0x1p-11 + 0x1p-22 : 0;
  PartialSum partial;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product = a[i].value * b[i].value;
    partial.terms.add_product(a[i].value, b[i].value);
    if (finite(a[i]) && finite(b[i])) {
      partial.allow(true, product, product_error(a[i], b[i]) + narrow * std::fabs(product));
    } else {
      const Bounded infinite = scaled_infinity(product, a[i], b[i]);
      partial.allow(infinite.error == kUnknown, product, infinite.error);
    }
  }
  return partial;
}

// An operand that may be 0, or of the other sign, decides between NaN and both infinities.
Bounded BoundedArithmetic::scaled_infinity(double y, const Bounded& a, const Bounded& b) {
  const bool has_nan = std::isnan(a.value) || std::isnan(b.value);
  const bool is_known = has_nan || (sign_is_known(a) && sign_is_known(b));
  return is_known ? from_infinite(y, a, b) : Bounded{y, kUnknown};
}

Bounded BoundedArithmetic::total(const PartialSum& sum, double roundings) const {
  if (sum.all_finite) {
    return accumulated(sum.terms.value(), sum.magnitude, sum.error, roundings);
  }
  // A partial sum may overflow to the other infinity, and inf - inf is NaN.
  const bool is_nan = sum.has_nan || (sum.has_inf && sum.has_minus_inf);
  if (is_nan) return {std::nan(""), 0};
  return {sum.has_inf ? kUnknown : -kUnknown, sum.magnitude <= limits_.largest ? 0 : kUnknown};
}

Bounded BoundedArithmetic::div(const Bounded& a, const Bounded& b) const {
  const double y = a.value / b.value;
  if (b.value == 0 && b.error == 0) {
    return {y, sign_is_known(a) ? 0 : kUnknown};
  }
  if (!finite(a) || !finite(b)) return scaled_infinity(y, a, b);
  const double smallest = std::fmax(0, std::fabs(b.value) - b.error);
  double error = (a.error + std::fabs(y) * b.error) / smallest + limits_.smallest;
  // The reciprocal of a tiny b overflows, that of a huge one is subnormal.
  if (smallest * limits_.largest < 1) error = kUnknown;
  if (smallest * normal_ > 1) error += std::fabs(a.value) * limits_.smallest;
  if (fast_ && std::fabs(b.value) + b.error > fast_math::kLargestDivisor) error = kUnknown;
  return rounded(y, error, true, fast_ ? fast_math::kDivision : 2);
}

Bounded BoundedArithmetic::sqrt(const Bounded& x) const {
  const double y = std::sqrt(x.value);
  const double below = y - std::sqrt(std::fmax(0, x.value - x.error));
  const double above = std::sqrt(x.value + x.error) - y;  // larger than `below` for x near 0
  return rounded(y, std::fmax(below, above), finite(x) && (x.value >= 0 || x.error > 0),
                 fast_ ? fast_math::kSquareRoot : 1);
}

Bounded BoundedArithmetic::exp(const Bounded& x, double argument_error) const {
  const double y = std::exp(x.value);
  double error = argument_error > 0 ? y * std::expm1(argument_error) : 0;
  // 0 * inf for a large negative x, whose error is large, too.
  if (std::isnan(error)) error = std::exp(x.value + argument_error);
  const double roundoffs =
      fast_ ? fast_math::exp_roundoffs(std::fabs(x.value) + x.error) : kFunctionRoundoffs;
  return rounded(y, error + limits_.smallest, finite(x), roundoffs);
}

Bounded BoundedArithmetic::log(const Bounded& x) const {
  const auto [roundoffs, absolute] = fast_ ? fast_math::log(x.value) : kUsual;
  const double error = x.error < x.value ? -std::log1p(-x.error / x.value) : kUnknown;
  return rounded(std::log(x.value), (x.error > 0 ? error : 0) + absolute,
                 finite(x) && (x.value >= 0 || x.error > 0), roundoffs);
}

// No slopes are stated for log2, log10, tan and pow: their arguments are exact.
Bounded BoundedArithmetic::log2(const Bounded& x) const {
  const auto [roundoffs, absolute] = fast_ ? fast_math::log2(x.value) : kUsual;
  return function(std::log2(x.value), x, kUnknown, roundoffs, absolute);
}

Bounded BoundedArithmetic::log10(const Bounded& x) const {
  const auto [roundoffs, absolute] = fast_ ? fast_math::log10(x.value) : kUsual;
  return function(std::log10(x.value), x, kUnknown, roundoffs, absolute);
}

// CUDA's tanf is within 4 ulps.
Bounded BoundedArithmetic::tan(const Bounded& x) const {
  const auto [roundoffs, absolute] = fast_ ? fast_math::tan(x.value) : fast_math::Error{9};
  return function(std::tan(x.value), x, kUnknown, roundoffs, absolute);
}

Bounded BoundedArithmetic::sin(const Bounded& x) const {
  const double farthest = std::fabs(x.value) + x.error;
  const auto [roundoffs, absolute] = fast_ ? fast_math::sin_or_cos(farthest) : kUsual;
  return function(std::sin(x.value), x, 1, roundoffs, absolute);
}

Bounded BoundedArithmetic::cos(const Bounded& x) const {
  const double farthest = std::fabs(x.value) + x.error;
  const auto [roundoffs, absolute] = fast_ ? fast_math::sin_or_cos(farthest) : kUsual;
  return function(std::cos(x.value), x, 1, roundoffs, absolute);
}

Bounded BoundedArithmetic::tanh(const Bounded& x) const {
  const double y = std::tanh(x.value), distance = 1 / std::cosh(nearest_to_zero(x));
  const double slope = distance * distance;
  if (fast_) return function(y, x, slope, 1, fast_math::kTanhRelative * std::fabs(y));
  return saturating(y, 2 / (1 + std::exp(2 * std::fabs(x.value))), x, slope);
}

Bounded BoundedArithmetic::pow(const Bounded& x, const Bounded& exponent) const {
  const double y = std::pow(x.value, exponent.value);
  if (!fast_)
    return rounded(y, limits_.smallest, finite(x) && finite(exponent) && !std::isnan(y), 17);
  // __powf is exp2f(exponent * __log2f(x)).
  const double log = std::log2(x.value);
  if (!std::isfinite(log) || !std::isfinite(exponent.value)) return {y, kUnknown};
  const auto [roundoffs, absolute] = fast_math::log2(x.value);
  const double power =
      std::fabs(exponent.value) * ((roundoffs + 1) * limits_.roundoff * std::fabs(log) + absolute);
  return rounded(y, y * std::expm1(std::numbers::ln2 * power) + limits_.smallest, true,
                 fast_math::kExp2);
}

Elements BoundedArithmetic::partial_sums(const Elements& x) const {
  PartialSum partial;
  Elements sums;
  for (const Bounded& each : x) {
    partial.add(each);
    sums.push_back(total(partial, static_cast<double>(sums.size())));
  }
  return sums;
}

Bounded BoundedArithmetic::prod(const Elements& x) const {
  double fraction = 1, growth = 0, decline = 0;  // sums of log2 of the factors above, below 1
  int exponent = 0;
  for (const Bounded& each : x) {
    int own = 0;
    fraction = std::frexp(fraction * each.value, &own);
    exponent = std::isfinite(fraction) ? exponent + own : 0;
    const double size = std::log2(std::fabs(each.value));
    if (std::isfinite(size)) (size > 0 ? growth : decline) += size;
  }
  const double y = std::ldexp(fraction, exponent);
  if (std::isnan(y)) return {y, 0};
  const bool may_overflow = growth > std::log2(limits_.largest) - 1;
  const bool may_underflow = decline < std::log2(limits_.smallest / limits_.roundoff);
  // A partial product that overflows is infinite, and 0 * inf is NaN; so is inf * 0.
  if (fraction == 0) return {y, may_overflow ? kUnknown : 0};
  if (std::isinf(fraction)) return {y, may_underflow ? kUnknown : 0};
  if (may_overflow) return {y, kUnknown, decline == 0 && std::fabs(y) > 2 * limits_.largest};
  const auto count = static_cast<double>(x.size());
  const double lost = may_underflow ? count * limits_.smallest * std::exp2(growth) : 0;
  return {y, gamma(std::fmax(0, count - 1)) * (std::fabs(y) + lost) + lost};
}

}  // namespace halfgrad::testing
