#pragma once

#include <cmath>
#include <vector>

#include <halfgrad/autograd/op_table/arithmetic.h>
#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing {

/// Arithmetic that rounds every operation to a format: a reference without widening.
class RoundedArithmetic final : public AnyArithmetic {
 public:
  explicit RoundedArithmetic(const NumberFormat& format)
      : format_(format), is_float_(format.name == kFp32.name) {}

  Bounded number(double x) const override {
    return {is_float_ ? static_cast<float>(x) : rounded_to(format_, x)};  // the cast is faster
  }
  Bounded rsqrt(const Bounded& x) const override { return div({1}, sqrt(x)); }
  Bounded either(const Bounded& /*best*/, const Bounded& usual) const override { return usual; }
  Bounded or_zero_if_reciprocal_overflows(const Bounded& x) const override {
    return {std::isinf(div({1}, x).value) ? 0 : x.value};
  }
  Bounded rescaled_sum(const Elements& x, double /*steps*/) const override {
    Bounded total;
    for (const Bounded& each : x) total = add(total, each);
    return total;
  }
  Elements partial_sums(const Elements& x) const override {
    Elements sums;
    for (const Bounded& each : x) sums.push_back(add(sums.empty() ? Bounded{} : sums.back(), each));
    return sums;
  }
  Bounded prod(const Elements& x) const override {
    Bounded total{1};
    for (const Bounded& each : x) total = mul(total, each);
    return total;
  }
  Bounded dot(const Elements& a, const Elements& b) const override {
    Bounded total;
    for (std::size_t i = 0; i < a.size(); ++i) total = add(total, mul(a[i], b[i]));
    return total;
  }

 private:
  NumberFormat format_;
  bool is_float_;
};

}  // namespace halfgrad::testing
