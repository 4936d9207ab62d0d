#include <halfgrad/testing/error_bound.h>

namespace halfgrad::testing {

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

Bounded BoundedArithmetic::log(const Bounded& x) const {
  const double error = x.error < x.value ? -std::log1p(-x.error / x.value) : kUnknown;
  return rounded(std::log(x.value), x.error > 0 ? error : 0,
                 finite(x) && (x.value >= 0 || x.error > 0), kFunctionRoundoffs);
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
