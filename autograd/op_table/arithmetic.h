#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

/// The arithmetic in which an op states its reference, independent of its kernel:
///
///   Bounded reference(const AnyArithmetic& a, Bounded x) const { return a.div(a.number(1), x); }
///
/// One formula serves three purposes. Tests evaluate it in double, as written here. The kernel
/// checker evaluates it with error bounds (testing/error_bound.h), and with every operation rounded
/// to a narrow format (testing/rounded_arithmetic.h).
namespace halfgrad {

/// A result, and how far a correct kernel may be from it: within `error` of `value`.
struct Bounded {
  double value = 0;
  double error = 0;        ///< infinity if nothing can be said: a partial result may overflow
  bool overflows = false;  ///< `value` is above the largest finite value: the result is infinite
};

/// A row of an operand, or the elements of a result in row-major order.
using Elements = std::vector<Bounded>;

class AnyArithmetic {
 public:
  AnyArithmetic() = default;
  AnyArithmetic(const AnyArithmetic&) = default;
  AnyArithmetic& operator=(const AnyArithmetic&) = delete;
  virtual ~AnyArithmetic() = default;

  /// An exact value: an operand, or a constant that every format holds.
  virtual Bounded number(double x) const { return {x}; }
  double value(const Bounded& x) const { return x.value; }
  /// A constant of the kernel's source code, which the kernel may have to round.
  virtual Bounded constant(double x) const { return number(x); }
  /// An intermediate result that a kernel may store in the dtype of its output and load again.
  virtual Bounded stored(const Bounded& x) const { return x; }

  virtual Bounded add(const Bounded& a, const Bounded& b) const {
    return number(a.value + b.value);
  }
  virtual Bounded sub(const Bounded& a, const Bounded& b) const {
    return number(a.value - b.value);
  }
  virtual Bounded mul(const Bounded& a, const Bounded& b) const {
    return number(a.value * b.value);
  }
  virtual Bounded div(const Bounded& a, const Bounded& b) const {
    return number(a.value / b.value);
  }
  virtual Bounded neg(const Bounded& x) const { return {-x.value}; }
  virtual Bounded abs(const Bounded& x) const { return {std::fabs(x.value)}; }
  /// max(x, low); NaN stays.
  virtual Bounded at_least(const Bounded& x, double low) const {
    return {x.value < low ? low : x.value};
  }
  /// A finite x limited to [low, high]; an infinity stays.
  virtual Bounded clamp(const Bounded& x, double low, double high) const {
    if (std::isinf(x.value)) return x;
    return x.value > high ? Bounded{high} : at_least(x, low);
  }
  virtual Bounded sqrt(const Bounded& x) const { return number(std::sqrt(x.value)); }
  virtual Bounded rsqrt(const Bounded& x) const {
    return number(static_cast<double>(1 / std::sqrt(static_cast<long double>(x.value))));
  }
  virtual Bounded exp(const Bounded& x) const { return number(std::exp(x.value)); }
  /// e^x by a kernel that may compute 2^(x log2(e)).
  virtual Bounded exp_by_exp2(const Bounded& x) const { return exp(x); }
  virtual Bounded exp2(const Bounded& x) const { return number(std::exp2(x.value)); }
  virtual Bounded expm1(const Bounded& x) const { return number(std::expm1(x.value)); }
  virtual Bounded log(const Bounded& x) const { return number(std::log(x.value)); }
  virtual Bounded log2(const Bounded& x) const { return number(std::log2(x.value)); }
  virtual Bounded log10(const Bounded& x) const { return number(std::log10(x.value)); }
  virtual Bounded log1p(const Bounded& x) const { return number(std::log1p(x.value)); }
  virtual Bounded sin(const Bounded& x) const { return number(std::sin(x.value)); }
  virtual Bounded cos(const Bounded& x) const { return number(std::cos(x.value)); }
  virtual Bounded tan(const Bounded& x) const { return number(std::tan(x.value)); }
  virtual Bounded tanh(const Bounded& x) const { return number(std::tanh(x.value)); }
  virtual Bounded erf(const Bounded& x) const { return number(std::erf(x.value)); }
  virtual Bounded erfc(const Bounded& x) const { return number(std::erfc(x.value)); }
  virtual Bounded pow(const Bounded& x, const Bounded& exponent) const {
    return number(std::pow(x.value, exponent.value));
  }
  /// Two formulas of the same result: the more exact one, and the one that kernels usually compute.
  /// A kernel may use either.
  virtual Bounded either(const Bounded& best, const Bounded& /*usual*/) const { return best; }
  /// A small x that a kernel computes as 1 / y: it may be 0, because y overflows.
  virtual Bounded or_zero_if_reciprocal_overflows(const Bounded& x) const { return x; }

  /// A sum in any order.
  Bounded sum(const Elements& x) const { return rescaled_sum(x, 1); }
  /// A sum that a kernel may rescale as it grows: `steps` operations for each term.
  virtual Bounded rescaled_sum(const Elements& x, double /*steps*/) const {
    long double total = 0;
    for (const Bounded& each : x) total += each.value;
    return number(static_cast<double>(total));
  }
  /// The sums of the first element of x, the first two, and so on.
  virtual Elements partial_sums(const Elements& x) const {
    Elements sums;
    long double total = 0;
    for (const Bounded& each : x) sums.push_back(number(static_cast<double>(total += each.value)));
    return sums;
  }
  /// A product in any order.
  virtual Bounded prod(const Elements& x) const {
    long double product = 1;
    for (const Bounded& each : x) product *= each.value;
    return number(static_cast<double>(product));
  }
  /// A dot product, with or without fused multiply-adds.
  virtual Bounded dot(const Elements& x, const Elements& y) const {
    long double total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      total += static_cast<long double>(x[i].value) * y[i].value;
    }
    return number(static_cast<double>(total));
  }
  /// A dot product added to `start`, with which the accumulator may begin.
  virtual Bounded dot_from(const Bounded& start, const Elements& x, const Elements& y) const {
    return add(dot(x, y), start);
  }
  /// The largest element; NaN if any element is NaN. Where errors overlap, a kernel may choose
  /// another element.
  static Bounded max(const Elements& x) {
    Bounded largest = x.front();
    double above = 0;
    for (const Bounded& each : x) {
      if (!(each.value <= largest.value) && !std::isnan(largest.value)) largest = each;
      above = std::fmax(above, each.error);
    }
    if (above == 0 || !std::isfinite(largest.value)) return largest;
    above = largest.error;
    for (const Bounded& each : x) {
      if (each.error > 0) above = std::fmax(above, each.value + each.error - largest.value);
    }
    return {largest.value, above, largest.overflows};
  }
  static bool is_infinite(const Bounded& x) { return std::isinf(x.value) && x.error == 0; }
};

/// x * factor, where kernels omit the product by 1.
inline Bounded scaled(const AnyArithmetic& a, const Bounded& x, double factor) {
  return factor == 1 ? x : a.mul(a.constant(factor), x);
}

}  // namespace halfgrad
