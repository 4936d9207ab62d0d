#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <halfgrad/testing/number_format_of.h>

/// Two arithmetics in which the formulas of formulas.h can be evaluated. In one a number carries a
/// bound on how far a correct kernel may be from it, in the other every operation is rounded.
namespace halfgrad::testing {

/// A kernel's intermediate result: it must lie within `error` of `value`.
struct Bounded {
  double value = 0;
  double error = 0;  ///< infinity where nothing can be said: a partial result may overflow
};

/// Running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
/// section 3.3), with bounds that hold for sums in any order: fl(x op y) = (x op y)(1 + d) + e with
/// |d| <= u, and |e| at most the smallest subnormal where a product or quotient underflows. Values
/// are computed in double, sums and products in about twice that.
class BoundedArithmetic {
 public:
  using Number = Bounded;

  /// For a kernel whose intermediate results are of dtype `accumulate`.
  explicit BoundedArithmetic(DType accumulate) : limits_(limits_of(accumulate)) {}

  Bounded number(double x) const { return {x, 0}; }
  Bounded add(const Bounded& a, const Bounded& b) const {
    return rounded(a.value + b.value, a.error + b.error, finite(a) && finite(b));
  }
  Bounded sub(const Bounded& a, const Bounded& b) const { return add(a, {-b.value, b.error}); }
  Bounded mul(const Bounded& a, const Bounded& b) const {
    return rounded(a.value * b.value, product_error(a, b) + limits_.smallest,
                   finite(a) && finite(b));
  }
  /// As a product with a reciprocal: two roundings.
  Bounded div(const Bounded& a, const Bounded& b) const {
    const double y = a.value / b.value;
    if (b.value == 0 && b.error == 0) return {y, a.error};
    const double smallest = std::fmax(0, std::fabs(b.value) - b.error);
    const double error = (a.error + std::fabs(y) * b.error) / smallest + limits_.smallest;
    return rounded(y, error, finite(a) && finite(b), 2);
  }
  Bounded sqrt(const Bounded& x) const {
    const double y = std::sqrt(x.value);
    const double smallest = std::sqrt(std::fmax(0, x.value - x.error));
    return rounded(y, x.error < kUnknown ? y - smallest : kUnknown, finite(x) && !(x.value < 0));
  }
  /// The argument may have been multiplied by log2(e) first, for an exp2.
  Bounded exp(const Bounded& x) const {
    const double y = std::exp(x.value);
    const double argument = x.error + 2 * limits_.roundoff * std::fabs(x.value);
    return rounded(y, y * std::expm1(argument) + limits_.smallest, finite(x), kFunctionRoundoffs);
  }
  Bounded log(const Bounded& x) const {
    const double error = x.error < x.value ? -std::log1p(-x.error / x.value) : kUnknown;
    const bool ordinary = finite(x) && (x.value > 0 || x.error == kUnknown);
    return rounded(std::log(x.value), x.error > 0 ? error : 0, ordinary, kFunctionRoundoffs);
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
    Compensated total;
    double magnitude = 0, error = 0;
    bool all_finite = true;
    for (const Bounded& each : x) {
      all_finite = all_finite && finite(each);
      total.add(each.value);
      magnitude += std::fabs(each.value) + each.error;
      error += each.error;
    }
    const double roundings = steps * (static_cast<double>(x.size()) - 1);
    return accumulated(total.value(), magnitude, error, all_finite, roundings);
  }
  /// |error| <= gamma_n sum |a_i||b_i|, with or without fused multiply-adds.
  Bounded dot(const std::vector<Bounded>& a, const std::vector<Bounded>& b) const {
    Compensated total;
    double magnitude = 0, error = 0;
    bool all_finite = true;
    for (std::size_t i = 0; i < a.size(); ++i) {
      all_finite = all_finite && finite(a[i]) && finite(b[i]);
      const double product = a[i].value * b[i].value;
      total.add(product);
      const double rest = std::fma(a[i].value, b[i].value, -product);
      if (std::isfinite(rest)) total.add(rest);
      const double term_error = product_error(a[i], b[i]) + limits_.smallest;
      magnitude += std::fabs(product) + term_error;
      error += term_error;
    }
    return accumulated(total.value(), magnitude, error, all_finite, static_cast<double>(a.size()));
  }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();
  /// Two ulps: what CUDA documents of expf, and about what vector libraries promise.
  static constexpr double kFunctionRoundoffs = 4;

  /// A sum in twice the precision of double (Ogita, Rump and Oishi, "Accurate sum and dot product",
  /// SIAM J. Sci. Comput. 2005).
  class Compensated {
   public:
    void add(double x) {
      const double sum = sum_ + x;
      const double x_seen = sum - sum_;
      rest_ += (sum_ - (sum - x_seen)) + (x - x_seen);
      sum_ = sum;
    }
    double value() const { return std::isfinite(rest_) ? sum_ + rest_ : sum_; }

   private:
    double sum_ = 0, rest_ = 0;
  };

  /// Not an infinity or NaN that any kernel must come to.
  static bool finite(const Bounded& x) { return std::isfinite(x.value) || x.error == kUnknown; }
  static double product_error(const Bounded& a, const Bounded& b) {
    return a.error * std::fabs(b.value) + b.error * std::fabs(a.value) + a.error * b.error;
  }
  /// gamma_n = n u / (1 - n u) (Higham, Lemma 3.1).
  double gamma(double n) const {
    const double nu = n * limits_.roundoff;
    return nu < 1 ? nu / (1 - nu) : kUnknown;
  }
  /// `ordinary`: the operands are finite, and inside the function's domain. Otherwise the result,
  /// an infinity or NaN, is what it must be.
  Bounded rounded(double value, double error, bool ordinary, double roundoffs = 1) const {
    const double magnitude = std::fabs(value) + error;
    return bounded(value, magnitude, error + roundoffs * limits_.roundoff * magnitude, ordinary);
  }
  Bounded accumulated(double value, double magnitude, double error, bool ordinary,
                      double roundings) const {
    return bounded(value, magnitude, error + gamma(std::fmax(0, roundings)) * magnitude, ordinary);
  }
  Bounded bounded(double value, double magnitude, double error, bool ordinary) const {
    if (!ordinary) return {value, 0};
    const bool known = magnitude <= limits_.largest && error < kUnknown;
    return {value, known ? error : kUnknown};
  }

  FormatLimits limits_;
};

/// Every operation rounded to a format: what the formula gives if nothing is widened.
class RoundedArithmetic {
 public:
  using Number = double;

  explicit RoundedArithmetic(const NumberFormat& format) : format_(format) {}

  double number(double x) const { return rounded_to(format_, x); }
  double add(double a, double b) const { return number(a + b); }
  double sub(double a, double b) const { return number(a - b); }
  double mul(double a, double b) const { return number(a * b); }
  double div(double a, double b) const { return number(a / b); }
  double sqrt(double x) const { return number(std::sqrt(x)); }
  double exp(double x) const { return number(std::exp(x)); }
  double log(double x) const { return number(std::log(x)); }
  bool is_infinite(double x) const { return std::isinf(x); }
  double max(const std::vector<double>& x) const {
    double largest = x.front();
    for (const double each : x) {
      if (!(each <= largest) && !std::isnan(largest)) largest = each;
    }
    return largest;
  }
  double sum(const std::vector<double>& x, double /*steps*/ = 1) const {
    double total = 0;
    for (const double each : x) total = add(total, each);
    return total;
  }
  double dot(const std::vector<double>& a, const std::vector<double>& b) const {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total = add(total, mul(a[i], b[i]));
    return total;
  }

 private:
  NumberFormat format_;
};

}  // namespace halfgrad::testing
