#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <halfgrad/autograd/arithmetic.h>
#include <halfgrad/testing/compensated_sum.h>
#include <halfgrad/testing/number_format_of.h>

/// The arithmetic of references and of formulas/ in which every result carries a bound on how far a
/// correct kernel may be from it.
namespace halfgrad::testing {

/// Running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
/// section 3.3), with bounds that hold for sums in any order: fl(x op y) = (x op y)(1 + d) + e with
/// |d| <= u, and |e| at most the smallest subnormal where a product or quotient underflows. Values
/// are computed in double, sums and products in about twice that; what a value loses by that itself
/// is part of its error.
class BoundedArithmetic final : public AnyArithmetic {
 public:
  /// For a kernel whose intermediate results are of dtype `accumulate`, and its results of
  /// `output`.
  BoundedArithmetic(DType accumulate, DType output)
      : accumulate_(accumulate), limits_(limits_of(accumulate)), output_(limits_of(output)) {}

  Bounded number(double x) const override { return {x, 0}; }
  /// As the kernel's source states it: rounded.
  Bounded constant(double x) const override {
    return {x, std::fabs(x - rounded_to(accumulate_, x))};
  }
  /// What a kernel may put down as its output's dtype, and read again.
  Bounded stored(const Bounded& x) const override {
    if (!finite(x) || output_.roundoff <= limits_.roundoff) return x;
    const double magnitude = std::fabs(x.value) + x.error;
    const double error = x.error + output_.roundoff * magnitude + output_.smallest;
    return {x.value, magnitude + error <= output_.largest ? error : kUnknown};
  }

  Bounded add(const Bounded& a, const Bounded& b) const override {
    const double y = a.value + b.value;
    return finite(a) && finite(b) ? rounded(y, a.error + b.error) : of_infinite(y, a, b);
  }
  Bounded sub(const Bounded& a, const Bounded& b) const override { return add(a, neg(b)); }
  Bounded mul(const Bounded& a, const Bounded& b) const override {
    const double y = a.value * b.value;
    return finite(a) && finite(b) ? rounded(y, product_error(a, b)) : of_infinite(y, a, b);
  }
  /// As a product with a reciprocal: two roundings.
  Bounded div(const Bounded& a, const Bounded& b) const override {
    const double y = a.value / b.value;
    if (b.value == 0 && b.error == 0) {
      const bool sign_is_known = a.error == 0 || a.error < std::fabs(a.value);
      return {y, sign_is_known ? 0 : kUnknown};
    }
    if (!finite(a) || !finite(b)) return of_infinite(y, a, b);
    const double smallest = std::fmax(0, std::fabs(b.value) - b.error);
    const double error = (a.error + std::fabs(y) * b.error) / smallest + limits_.smallest;
    return rounded(y, error, true, 2);
  }
  Bounded neg(const Bounded& x) const override { return {-x.value, x.error, x.overflows}; }
  Bounded abs(const Bounded& x) const override {
    return {std::fabs(x.value), x.error, x.overflows};
  }
  /// NaN stays.
  Bounded at_least(const Bounded& x, double low) const override {
    if (!(x.value < low)) return x;
    const bool known = x.overflows || !finite(x) || x.value + x.error < low;
    return {low, known ? 0 : x.error};
  }
  /// Of a finite number; an infinity stays.
  Bounded clamp(const Bounded& x, double low, double high) const override {
    if (!finite(x)) return x;
    return neg(at_least(neg(at_least(x, low)), -high));
  }
  Bounded sqrt(const Bounded& x) const override {
    const double y = std::sqrt(x.value);
    const double below = y - std::sqrt(std::fmax(0, x.value - x.error));
    const double above = std::sqrt(x.value + x.error) - y;  // the larger one for x near 0
    return rounded(y, std::fmax(below, above), finite(x) && (x.value >= 0 || x.error > 0));
  }

  /// Elementary functions to what CUDA's manual states of its single precision ones (C++
  /// Programming Guide, appendix on mathematical functions): 2 ulps from the correctly rounded
  /// result, so 2.5 from the exact one, and 2u abs(y) is at least an ulp.
  Bounded exp(const Bounded& x) const override { return exp(x, x.error); }
  /// The argument may have been multiplied by log2(e) first.
  Bounded exp_by_exp2(const Bounded& x) const override {
    return exp(x, x.error + 2 * limits_.roundoff * std::fabs(x.value));
  }
  Bounded expm1(const Bounded& x) const override {
    return function(std::expm1(x.value), x, std::exp(x.value + x.error));
  }
  Bounded log(const Bounded& x) const override {
    const double error = x.error < x.value ? -std::log1p(-x.error / x.value) : kUnknown;
    return rounded(std::log(x.value), x.error > 0 ? error : 0,
                   finite(x) && (x.value >= 0 || x.error > 0), kFunctionRoundoffs);
  }
  Bounded log1p(const Bounded& x) const override {
    const double nearest = 1 + x.value - x.error;
    return function(std::log1p(x.value), x, nearest > 0 ? 1 / nearest : kUnknown);
  }
  Bounded sin(const Bounded& x) const override { return function(std::sin(x.value), x, 1); }
  Bounded cos(const Bounded& x) const override { return function(std::cos(x.value), x, 1); }
  Bounded tanh(const Bounded& x) const override {
    const double distance = 1 / std::cosh(nearest_to_zero(x));
    return saturating(std::tanh(x.value), 2 / (1 + std::exp(2 * std::fabs(x.value))), x,
                      distance * distance);
  }
  Bounded erf(const Bounded& x) const override {
    return saturating(std::erf(x.value), std::erfc(std::fabs(x.value)), x, erf_slope(x));
  }
  /// CUDA's erfcf is within 4 ulps.
  Bounded erfc(const Bounded& x) const override {
    return function(std::erfc(x.value), x, erf_slope(x), 9);
  }
  /// Three roundings, or one function of 2 ulps.
  Bounded rsqrt(const Bounded& x) const override {
    const Bounded y = div(number(1), sqrt(x));
    return finite(y) ? rounded(y.value, y.error, true, kFunctionRoundoffs - 3) : y;
  }
  /// Of exact numbers; CUDA's tanf is within 4 ulps.
  Bounded exp2(const Bounded& x) const override {
    return function(std::exp2(x.value), x, kUnknown);
  }
  Bounded log2(const Bounded& x) const override {
    return function(std::log2(x.value), x, kUnknown);
  }
  Bounded log10(const Bounded& x) const override {
    return function(std::log10(x.value), x, kUnknown);
  }
  Bounded tan(const Bounded& x) const override {
    return function(std::tan(x.value), x, kUnknown, 9);
  }
  /// Of exact numbers, to 8 ulps: CUDA's powf.
  Bounded pow(const Bounded& x, const Bounded& exponent) const override {
    const double y = std::pow(x.value, exponent.value);
    return rounded(y, limits_.smallest, finite(x) && finite(exponent) && !std::isnan(y), 17);
  }

  /// A kernel may go either way to the same result; the value is the first way's.
  Bounded either(const Bounded& best, const Bounded& usual) const override {
    if (!finite(best)) return best;
    const double apart = best.value == usual.value ? 0 : std::fabs(best.value - usual.value);
    return {best.value, std::fmax(best.error, apart + usual.error),
            best.overflows && usual.overflows};
  }
  /// A small x, where a kernel has divided by 1 / x: it may have come out as 0.
  Bounded or_zero_if_reciprocal_overflows(const Bounded& x) const override {
    const bool may = std::fabs(x.value) < 2 / limits_.largest;
    return {x.value, may ? std::fmax(x.error, std::fabs(x.value)) : x.error, x.overflows};
  }
  bool is_infinite(const Bounded& x) const { return std::isinf(x.value) && x.error == 0; }
  /// Exact, but that any NaN makes a NaN.
  Bounded max(const std::vector<Bounded>& x) const {
    Bounded largest = x.front();
    for (const Bounded& each : x) {
      if (!(each.value <= largest.value) && !std::isnan(largest.value)) largest = each;
    }
    return largest;
  }
  /// In any order: |error| <= gamma_(n-1) sum |x_i|. `steps` operations on each term, not one,
  /// allow for sums that are rescaled as they grow.
  Bounded sum(const std::vector<Bounded>& x, double steps = 1) const {
    PartialSum partial;
    for (const Bounded& each : x) partial.add(each);
    return total(partial, steps * (static_cast<double>(x.size()) - 1));
  }
  /// The sums of the first, the first two, ... of x, each as sum() has it.
  std::vector<Bounded> partial_sums(const std::vector<Bounded>& x) const {
    PartialSum partial;
    std::vector<Bounded> sums;
    for (const Bounded& each : x) {
      partial.add(each);
      sums.push_back(total(partial, static_cast<double>(sums.size())));
    }
    return sums;
  }
  /// |error| <= gamma_n sum |a_i||b_i|, with or without fused multiply-adds.
  Bounded dot(const std::vector<Bounded>& a, const std::vector<Bounded>& b) const {
    PartialSum partial;
    for (std::size_t i = 0; i < a.size(); ++i) {
      partial.terms.add_product(a[i].value, b[i].value);
      partial.allow(finite(a[i]) && finite(b[i]), a[i].value * b[i].value,
                    product_error(a[i], b[i]));
    }
    return total(partial, static_cast<double>(a.size()));
  }
  /// Of exact numbers in any order: |error| <= gamma_(n-1) |y|, and where a partial product may
  /// underflow, what that is multiplied by.
  Bounded prod(const std::vector<Bounded>& x) const {
    double fraction = 1, growth = 0, decline = 0;  // binary logarithms of all above and below 1
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
    // A partial result of infinity by 0, or of 0 by infinity, is NaN.
    if (fraction == 0) return {y, may_overflow ? kUnknown : 0};
    if (std::isinf(fraction)) return {y, may_underflow ? kUnknown : 0};
    if (may_overflow) return {y, kUnknown, decline == 0 && std::fabs(y) > 2 * limits_.largest};
    const auto count = static_cast<double>(x.size());
    const double lost = may_underflow ? count * limits_.smallest * std::exp2(growth) : 0;
    return {y, gamma(std::fmax(0, count - 1)) * (std::fabs(y) + lost) + lost};
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();
  static constexpr double kFunctionRoundoffs = 5;
  static constexpr double kOwnRoundoff = 0x1p-53;  // of the values here

  struct PartialSum {
    CompensatedSum terms;
    double magnitude = 0, error = 0;
    bool all_finite = true;
    void add(const Bounded& x) {
      terms.add(x.value);
      allow(finite(x), x.value, x.error);
    }
    void allow(bool is_finite, double term, double term_error) {
      all_finite = all_finite && is_finite;
      if (!is_finite) return;
      magnitude += std::fabs(term) + term_error;
      error += term_error;
    }
  };
  Bounded total(const PartialSum& sum, double roundings) const {
    return accumulated(sum.terms.value(), sum.magnitude, sum.error, sum.all_finite, roundings);
  }

  /// Not an infinity or NaN that any kernel must come to.
  static bool finite(const Bounded& x) { return std::isfinite(x.value) || x.error == kUnknown; }
  static double nearest_to_zero(const Bounded& x) {
    return std::fmax(0, std::fabs(x.value) - x.error);
  }
  static double erf_slope(const Bounded& x) {
    const double nearest = nearest_to_zero(x);
    return 2 * std::numbers::inv_sqrtpi * std::exp(-nearest * nearest);
  }
  double product_error(const Bounded& a, const Bounded& b) const {
    const bool is_zero = (a.value == 0 && a.error == 0) || (b.value == 0 && b.error == 0);
    if (is_zero) return 0;
    return a.error * std::fabs(b.value) + b.error * std::fabs(a.value) + a.error * b.error +
           limits_.smallest;
  }
  /// gamma_n = n u / (1 - n u) (Higham, Lemma 3.1).
  double gamma(double n) const {
    const double nu = n * limits_.roundoff;
    return nu < 1 ? nu / (1 - nu) : kUnknown;
  }
  Bounded exp(const Bounded& x, double argument_error) const {
    const double y = std::exp(x.value);
    const double error = argument_error > 0 ? y * std::expm1(argument_error) : 0;
    return rounded(y, error + limits_.smallest, finite(x), kFunctionRoundoffs);
  }
  /// y = f(x), where |f'| <= slope between what x may be.
  Bounded function(double y, const Bounded& x, double slope,
                   double roundoffs = kFunctionRoundoffs) const {
    const double error = x.error > 0 ? slope * x.error : 0;
    return rounded(y, error + limits_.smallest, finite(x) && !std::isnan(y), roundoffs);
  }
  /// A function that tends to 1 and -1, from which y is `distance` away: kernels return 1 and -1
  /// where that is a quarter of a roundoff.
  Bounded saturating(double y, double distance, const Bounded& x, double slope) const {
    const Bounded result = function(y, x, slope);
    return distance < limits_.roundoff / 4 ? Bounded{y, std::fmin(distance, result.error)} : result;
  }
  /// y from an infinity or NaN.
  static Bounded of_infinite(double y, const Bounded& a, const Bounded& b) {
    const bool certain = std::isnan(y) || (a.error < kUnknown && b.error < kUnknown);
    return {y, certain ? 0 : kUnknown};
  }
  /// `ordinary`: the operands are finite, and inside the function's domain. Otherwise the result,
  /// an infinity or NaN, is what it must be.
  Bounded rounded(double value, double error, bool ordinary = true, double roundoffs = 1) const {
    if (!ordinary) return {value, 0};
    const double magnitude = std::fabs(value) + error;
    const double total = error + roundoffs * (limits_.roundoff + kOwnRoundoff) * magnitude;
    if (std::fabs(value) + total <= limits_.largest) return {value, total};
    const bool beyond = std::isinf(value) || std::fabs(value) - total > limits_.largest;
    return {value, kUnknown, beyond && error < kUnknown};
  }
  Bounded accumulated(double value, double magnitude, double error, bool ordinary,
                      double roundings) const {
    // Beside an infinity, one of the other sign may come from an overflow.
    const bool certain = std::isnan(value) || magnitude <= limits_.largest;
    if (!ordinary) return {value, certain ? 0 : kUnknown};
    const double total =
        error + gamma(std::fmax(0, roundings)) * magnitude + kOwnRoundoff * std::fabs(value);
    return {value, magnitude + total <= limits_.largest ? total : kUnknown};
  }

  DType accumulate_;
  FormatLimits limits_, output_;
};

}  // namespace halfgrad::testing
