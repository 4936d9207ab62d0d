#pragma once

#include <cmath>

#include <halfgrad/core/language.h>

namespace halfgrad::testing {

/// A sum in twice the precision of double (Ogita, Rump and Oishi, "Accurate sum and dot product",
/// SIAM J. Sci. Comput. 2005).
class CompensatedSum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    const double x_seen = sum - sum_;
    rest_ += (sum_ - (sum - x_seen)) + (x - x_seen);
    sum_ = sum;
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    const double rest = std::fma(a, b, -product);
    if (std::isfinite(rest)) add(rest);
  }
  double value() const { return std::isfinite(rest_) ? sum_ + rest_ : sum_; }

 private:
  double sum_ = 0, rest_ = 0;
};

}  // namespace halfgrad::testing
