#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include <halfgrad/core/numbers/number_format.h>

namespace halfgrad {

/// A number of a format of at most 25 significant bits, with the arithmetic of a machine of that
/// format: each operation is computed exactly, then rounded to nearest even. It is for lessons (how
/// does a sum in fp16 behave?) and for judging kernels that accumulate in 16 bits.
///
/// Sums, products, quotients and roots are first computed in double. That double rounding is
/// innocuous if 53 >= 2p + 2 (Figueroa, "When is double rounding innocuous?", SIGNUM 1995).
template <const NumberFormat& kFormat>
class Emulated {
 public:
  static_assert(kFormat.fraction_bits <= 24);

  Emulated() = default;
  explicit Emulated(double x) : value_(rounded_to(kFormat, x)) {}

  explicit operator double() const { return value_; }
  std::uint32_t bits() const { return encode(value_, kFormat); }

  friend Emulated operator+(Emulated a, Emulated b) { return Emulated(a.value_ + b.value_); }
  friend Emulated operator-(Emulated a, Emulated b) { return Emulated(a.value_ - b.value_); }
  friend Emulated operator*(Emulated a, Emulated b) { return Emulated(a.value_ * b.value_); }
  friend Emulated operator/(Emulated a, Emulated b) { return Emulated(a.value_ / b.value_); }
  friend Emulated operator-(Emulated a) { return Emulated(-a.value_); }
  Emulated& operator+=(Emulated other) { return *this = *this + other; }
  Emulated& operator*=(Emulated other) { return *this = *this * other; }
  friend bool operator==(Emulated a, Emulated b) { return a.value_ == b.value_; }
  friend auto operator<=>(Emulated a, Emulated b) { return a.value_ <=> b.value_; }

  friend Emulated sqrt(Emulated a) { return Emulated(std::sqrt(a.value_)); }
  /// a * b + c with one rounding.
  friend Emulated fma(Emulated a, Emulated b, Emulated c) {
    return Emulated(sum_to_odd(a.value_ * b.value_, c.value_));
  }

 private:
  /// Returns a + b if a double holds it, else its neighbour with an odd last bit, which is on the
  /// right side of every midpoint of a shorter format (Boldo and Melquiond, "Emulation of FMA and
  /// correctly rounded sums", IEEE Trans. Computers 2008).
  static double sum_to_odd(double a, double b) {
    const double sum = a + b;
    const double b_seen = sum - a;
    const double error = (a - (sum - b_seen)) + (b - b_seen);  // Knuth's two-sum: exact
    const bool odd = (std::bit_cast<std::uint64_t>(sum) & 1) != 0;
    if (!(std::fabs(error) > 0) || odd) return sum;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return std::nextafter(sum, error > 0 ? kInfinity : -kInfinity);
  }

  double value_ = 0;
};

}  // namespace halfgrad
