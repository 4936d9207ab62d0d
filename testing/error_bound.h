#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/testing/compensated_sum.h>
#include <halfgrad/testing/number_format_of.h>

/// The arithmetic of references in which each value bounds the error of a correct kernel.
namespace halfgrad::testing {

/// Deviations beside rounding that a kernel's contract permits.
struct Leniency {
  bool flush_subnormals = false;  ///< a subnormal operand or result may become 0
  bool tf32 = false;              ///< factors of products may be rounded to 11 bits
  bool any_nan = false;           ///< any value is right in place of NaN
  bool fast_math = false;         ///< float functions may be those of fast_math.h
  bool any_order = false;         ///< calls may differ by the order of their sums
  /// The largest finite magnitude of operands that the kernel promises to handle. Greater ones and
  /// infinities are replaced.
  double max_abs = std::numeric_limits<double>::infinity();

  /// nvcc's --use_fast_math has -ftz=true.
  bool flushes() const { return flush_subnormals || fast_math; }
};

/// Running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
/// section 3.3), with bounds that hold for sums in any order:
///     fl(x op y) = (x op y)(1 + d) + e,   |d| <= u
///
/// |e| is at most the smallest subnormal where a product or quotient underflows, else 0. Values are
/// computed in double, sums and products more precisely; an error covers its value's roundoff too.
class BoundedArithmetic final : public AnyArithmetic {
 public:
  /// Models a kernel with intermediate results of dtype `accumulate` and results of dtype `output`.
  BoundedArithmetic(DType accumulate, DType output, const Leniency& leniency = {})
      : accumulate_(accumulate),
        limits_(limits_of(accumulate)),
        output_(limits_of(output)),
        output_dtype_(output),
        leniency_(leniency),
        fast_(leniency.fast_math && accumulate == DType::f32) {
    normal_ = limits_.smallest / (2 * limits_.roundoff);
    if (leniency.flushes()) limits_.smallest = normal_;
  }

  /// A kernel that flushes subnormals may read 0 for one.
  Bounded number(double x) const override {
    const bool may_be_zero = leniency_.flushes() && std::fabs(x) < normal_;
    return {x, may_be_zero ? std::fabs(x) : 0};
  }
  /// A constant of the kernel's source, rounded.
  Bounded constant(double x) const override {
    return {x, std::fabs(x - rounded_to(accumulate_, x))};
  }
  /// A value that a kernel may store in its output's dtype and load again. Storing keeps a value
  /// that the dtype has, such as 0.
  Bounded stored(const Bounded& x) const override {
    if (!finite(x) || output_.roundoff <= limits_.roundoff) return x;
    if (x.error == 0 && rounded_to(output_dtype_, x.value) == x.value) return x;
    const double magnitude = std::fabs(x.value) + x.error;
    const double error = x.error + output_.roundoff * magnitude + output_.smallest;
    return {x.value, magnitude + error <= output_.largest ? error : kUnknown};
  }

  Bounded add(const Bounded& a, const Bounded& b) const override {
    const double y = a.value + b.value;
    return finite(a) && finite(b) ? rounded(y, a.error + b.error) : from_infinite(y, a, b);
  }
  Bounded sub(const Bounded& a, const Bounded& b) const override { return add(a, neg(b)); }
  Bounded mul(const Bounded& a, const Bounded& b) const override {
    if (!finite(a) || !finite(b)) return scaled_infinity(a.value * b.value, a, b);
    return rounded(a.value * b.value, product_error(a, b));
  }
  /// Allows a product with a reciprocal: two roundings.
  Bounded div(const Bounded& a, const Bounded& b) const override;
  Bounded neg(const Bounded& x) const override { return {-x.value, x.error, x.overflows}; }
  Bounded abs(const Bounded& x) const override {
    return {std::fabs(x.value), x.error, x.overflows};
  }
  /// Keeps NaN.
  Bounded at_least(const Bounded& x, double low) const override {
    if (!(x.value < low)) return x;
    const bool known = x.overflows || !finite(x) || x.value + x.error < low;
    return {low, known ? 0 : x.error};
  }
  /// Clamps finite values and keeps infinities.
  Bounded clamp(const Bounded& x, double low, double high) const override {
    if (!finite(x)) return x;
    return neg(at_least(neg(at_least(x, low)), -high));
  }
  Bounded sqrt(const Bounded& x) const override;

  /// Elementary functions are as accurate as CUDA's manual states for single precision (C++
  /// Programming Guide, appendix on mathematical functions): 2 ulps from the correctly rounded
  /// result, so 2.5 ulps from the exact one. An ulp is at most 2u |y|, so 5 roundoffs.
  Bounded exp(const Bounded& x) const override { return exp(x, x.error); }
  /// Allows 2^(x log2(e)), whose product is rounded.
  Bounded exp_by_exp2(const Bounded& x) const override {
    return exp(x, x.error + 2 * limits_.roundoff * std::fabs(x.value));
  }
  Bounded expm1(const Bounded& x) const override {
    return function(std::expm1(x.value), x, std::exp(x.value + x.error));
  }
  Bounded log(const Bounded& x) const override;
  Bounded log1p(const Bounded& x) const override {
    const double nearest = 1 + x.value - x.error;
    return function(std::log1p(x.value), x, nearest > 0 ? 1 / nearest : kUnknown);
  }
  Bounded sin(const Bounded& x) const override;
  Bounded cos(const Bounded& x) const override;
  Bounded tanh(const Bounded& x) const override;
  Bounded erf(const Bounded& x) const override {
    return saturating(std::erf(x.value), std::erfc(std::fabs(x.value)), x, erf_slope(x));
  }
  /// CUDA's erfcf is within 4 ulps.
  Bounded erfc(const Bounded& x) const override {
    return function(std::erfc(x.value), x, erf_slope(x), 9);
  }
  /// Allows a square root and a division (three roundings), or one function within 2 ulps.
  Bounded rsqrt(const Bounded& x) const override {
    const Bounded y = div(number(1), sqrt(x));
    return finite(y) ? rounded(y.value, y.error, true, kFunctionRoundoffs - 3) : y;
  }
  /// For exact arguments only: no slope is stated. CUDA's tanf is within 4 ulps.
  Bounded exp2(const Bounded& x) const override {
    return function(std::exp2(x.value), x, kUnknown);
  }
  Bounded log2(const Bounded& x) const override;
  Bounded log10(const Bounded& x) const override;
  Bounded tan(const Bounded& x) const override;
  /// For exact arguments only. CUDA's powf is within 8 ulps.
  Bounded pow(const Bounded& x, const Bounded& exponent) const override;

  /// Two formulas of one result; a kernel may use either. The value is that of the first.
  Bounded either(const Bounded& best, const Bounded& usual) const override {
    const bool both_finite = finite(best) && finite(usual);
    const bool same =
        best.value == usual.value || (std::isnan(best.value) && std::isnan(usual.value));
    if (!both_finite) {
      return same && usual.error < kUnknown ? best : Bounded{best.value, kUnknown};
    }
    const double distance = best.value == usual.value ? 0 : std::fabs(best.value - usual.value);
    return {best.value, std::fmax(best.error, distance + usual.error),
            best.overflows && usual.overflows};
  }
  /// Allows 0 for an x so small that 1 / x overflows: a kernel may divide by the reciprocal.
  Bounded or_zero_if_reciprocal_overflows(const Bounded& x) const override {
    const bool may = std::fabs(x.value) < 2 / limits_.largest;
    return {x.value, may ? std::fmax(x.error, std::fabs(x.value)) : x.error, x.overflows};
  }
  ///     |error| <= gamma_(steps (n - 1)) sum |x_i|
  Bounded rescaled_sum(const Elements& x, double steps) const override {
    PartialSum partial;
    for (const Bounded& each : x) partial.add(each);
    return total(partial, steps * (static_cast<double>(x.size()) - 1));
  }
  /// Each partial sum is bounded as in sum().
  Elements partial_sums(const Elements& x) const override;
  ///     |error| <= gamma_n sum |a_i| |b_i|
  Bounded dot(const Elements& a, const Elements& b) const override {
    return total(products(a, b), static_cast<double>(a.size()));
  }
  ///     |error| <= gamma_(n+1) (|start| + sum |a_i| |b_i|)
  Bounded dot_from(const Bounded& start, const Elements& a, const Elements& b) const override {
    PartialSum partial = products(a, b);
    partial.add(start);
    return total(partial, static_cast<double>(a.size()) + 1);
  }
  /// A product of exact factors in any order; an underflow is multiplied by all factors above 1.
  ///     |error| <= gamma_(n-1) |y|
  Bounded prod(const Elements& x) const override;

  /// The error of a value that is not known at all.
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

 private:
  static constexpr double kFunctionRoundoffs = 5;
  static constexpr double kOwnRoundoff = 0x1p-53;  // roundoff of Bounded::value

  struct PartialSum {
    CompensatedSum terms;
    double magnitude = 0, error = 0;
    bool all_finite = true;
    bool has_nan = false, has_inf = false, has_minus_inf = false;  // in terms that are not finite
    void add(const Bounded& x) {
      terms.add(x.value);
      allow(finite(x), x.value, x.error);
    }
    void allow(bool is_finite, double term, double term_error) {
      all_finite = all_finite && is_finite;
      if (!is_finite) {
        has_nan = has_nan || std::isnan(term);
        has_inf = has_inf || term > 0;
        has_minus_inf = has_minus_inf || term < 0;
        return;
      }
      magnitude += std::fabs(term) + term_error;
      error += term_error;
    }
  };
  PartialSum products(const Elements& a, const Elements& b) const;
  Bounded total(const PartialSum& sum, double roundings) const;

  /// False for an infinity or NaN that every kernel must produce.
  static bool finite(const Bounded& x) { return std::isfinite(x.value) || x.error == kUnknown; }
  static bool sign_is_known(const Bounded& x) {
    return x.error == 0 || x.error < std::fabs(x.value);
  }
  /// The product or quotient y of an infinity or NaN.
  static Bounded scaled_infinity(double y, const Bounded& a, const Bounded& b);
  static double nearest_to_zero(const Bounded& x) {
    return std::fmax(0, std::fabs(x.value) - x.error);
  }
  static double erf_slope(const Bounded& x) {
    const double nearest = nearest_to_zero(x);
    return 2 * std::numbers::inv_sqrtpi * std::exp(-nearest * nearest);
  }
  double product_error(const Bounded& a, const Bounded& b) const {
    const bool is_zero = (a.value == 0 && a.error == 0) || (b.value == 0 && b.error == 0);
    // 0 by a value that may overflow is 0 or NaN.
    if (is_zero) return a.error == kUnknown || b.error == kUnknown ? kUnknown : 0;
    return a.error * std::fabs(b.value) + b.error * std::fabs(a.value) + a.error * b.error +
           limits_.smallest;
  }
  /// gamma_n = n u / (1 - n u) (Higham, Lemma 3.1).
  double gamma(double n) const {
    const double nu = n * limits_.roundoff;
    return nu < 1 ? nu / (1 - nu) : kUnknown;
  }
  Bounded exp(const Bounded& x, double argument_error) const;
  /// y = f(x), where |f'| <= slope on the interval that x may be in, by a function with an error of
  /// `roundoffs` and `absolute`.
  Bounded function(double y, const Bounded& x, double slope, double roundoffs = kFunctionRoundoffs,
                   double absolute = 0) const {
    const double error = (x.error > 0 ? slope * x.error : 0) + absolute + limits_.smallest;
    return rounded(y, error, finite(x) && !std::isnan(y), roundoffs);
  }
  /// A function that tends to 1 and -1, with y at `distance` from that limit: kernels return the
  /// limit from a quarter of a roundoff on.
  Bounded saturating(double y, double distance, const Bounded& x, double slope) const {
    const Bounded result = function(y, x, slope);
    return distance < limits_.roundoff / 4 ? Bounded{y, std::fmin(distance, result.error)} : result;
  }
  /// The result y of an operand that is an infinity or NaN.
  static Bounded from_infinite(double y, const Bounded& a, const Bounded& b) {
    const bool a_is_known = a.error < kUnknown, b_is_known = b.error < kUnknown;
    const bool is_nan = (a_is_known && std::isnan(a.value)) || (b_is_known && std::isnan(b.value));
    return {y, is_nan || (a_is_known && b_is_known) ? 0 : kUnknown};
  }
  /// `ordinary`: the operands are finite and in the function's domain. Otherwise the result is an
  /// infinity or NaN, and must be exactly that.
  Bounded rounded(double value, double error, bool ordinary = true, double roundoffs = 1) const {
    if (!ordinary) return {value, 0};
    const double magnitude = std::fabs(value) + error;
    const double total = error + roundoffs * (limits_.roundoff + kOwnRoundoff) * magnitude;
    if (std::fabs(value) + total <= limits_.largest) return {value, total};
    const bool beyond = std::isinf(value) || std::fabs(value) - total > limits_.largest;
    return {value, kUnknown, beyond && error < kUnknown};
  }
  Bounded accumulated(double value, double magnitude, double error, double roundings) const {
    const double total =
        error + gamma(std::fmax(0, roundings)) * magnitude + kOwnRoundoff * std::fabs(value);
    return {value, magnitude + total <= limits_.largest ? total : kUnknown};
  }

  DType accumulate_;
  FormatLimits limits_, output_;
  DType output_dtype_;
  double normal_;  // the smallest normal value of `accumulate`
  Leniency leniency_;
  bool fast_;  // functions are those of fast_math.h
};

}  // namespace halfgrad::testing
