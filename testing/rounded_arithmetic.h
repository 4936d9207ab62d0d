#pragma once

#include <cmath>
#include <vector>

#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing {

/// Arithmetic that rounds every operation to a format: a formula of formulas/ without widening.
class RoundedArithmetic {
 public:
  using Number = double;

  explicit RoundedArithmetic(const NumberFormat& format)
      : format_(format), is_float_(format.name == kFp32.name) {}

  double number(double x) const {
    return is_float_ ? static_cast<float>(x) : rounded_to(format_, x);  // the cast is faster
  }
  double value(double x) const { return x; }
  double constant(double x) const { return number(x); }
  double stored(double x) const { return x; }
  double add(double a, double b) const { return number(a + b); }
  double sub(double a, double b) const { return number(a - b); }
  double mul(double a, double b) const { return number(a * b); }
  double div(double a, double b) const { return number(a / b); }
  double neg(double x) const { return -x; }
  double abs(double x) const { return std::fabs(x); }
  double at_least(double x, double low) const { return x < low ? low : x; }
  double clamp(double x, double low, double high) const {
    if (std::isinf(x)) return x;
    return x > high ? high : at_least(x, low);
  }
  double sqrt(double x) const { return number(std::sqrt(x)); }
  double rsqrt(double x) const { return div(1, sqrt(x)); }
  double exp(double x) const { return number(std::exp(x)); }
  double exp_by_exp2(double x) const { return exp(x); }
  double exp2(double x) const { return number(std::exp2(x)); }
  double expm1(double x) const { return number(std::expm1(x)); }
  double log(double x) const { return number(std::log(x)); }
  double log2(double x) const { return number(std::log2(x)); }
  double log10(double x) const { return number(std::log10(x)); }
  double log1p(double x) const { return number(std::log1p(x)); }
  double sin(double x) const { return number(std::sin(x)); }
  double cos(double x) const { return number(std::cos(x)); }
  double tan(double x) const { return number(std::tan(x)); }
  double tanh(double x) const { return number(std::tanh(x)); }
  double erf(double x) const { return number(std::erf(x)); }
  double erfc(double x) const { return number(std::erfc(x)); }
  double pow(double x, double exponent) const { return number(std::pow(x, exponent)); }
  /// The second operand: the computation that most kernels use.
  double either(double /*best*/, double usual) const { return usual; }
  double or_zero_if_reciprocal_overflows(double x) const { return std::isinf(div(1, x)) ? 0 : x; }
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
  std::vector<double> partial_sums(const std::vector<double>& x) const {
    std::vector<double> sums;
    for (const double each : x) sums.push_back(add(sums.empty() ? 0 : sums.back(), each));
    return sums;
  }
  double prod(const std::vector<double>& x) const {
    double total = 1;
    for (const double each : x) total = mul(total, each);
    return total;
  }
  double dot(const std::vector<double>& a, const std::vector<double>& b) const {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total = add(total, mul(a[i], b[i]));
    return total;
  }

 private:
  NumberFormat format_;
  bool is_float_;
};

}  // namespace halfgrad::testing
