#pragma once

#include <cmath>

/// A value of fp16 whose + and - round, as a processor with fp16 arithmetic does.
class Fp16 {
 public:
  Fp16() = default;
  explicit Fp16(double x) : value_(rounded(x)) {}

  friend Fp16 operator+(Fp16 a, Fp16 b) { return Fp16(a.value_ + b.value_); }
  friend Fp16 operator-(Fp16 a, Fp16 b) { return Fp16(a.value_ - b.value_); }
  double value() const { return value_; }

 private:
  // Rounds to 11 significant bits, or to a multiple of 2^-24, ties to even.
  static double rounded(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    const int quantum = exponent - 11 > -24 ? exponent - 11 : -24;
    const double result = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
    return std::fabs(result) > 65504 ? std::copysign(INFINITY, x) : result;
  }

  double value_ = 0;
};

/// All that a sum may remember of the elements so far: two values of fp16.
struct Sum {
  Fp16 total;  // the sum so far
  Fp16 lost;   // the part that rounding has added to it too much
};

/// Adds an element to the sum.
void add(Sum& sum, Fp16 x);
