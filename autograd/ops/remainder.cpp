#include <cmath>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/division_operands.h>
#include <halfgrad/autograd/ops/shared/rounded_division.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a - n b,  n = a / b rounded to an integer, elementwise; a and b broadcast
// dy/da = 1,  dy/db = -n
struct Modulo : ElementwiseDefaults {
  static constexpr bool integers = true;
  static constexpr std::array reads = {kSavesNothing, kSavesInputs};
  static constexpr double low = -4, high = 4, low_b = 0.25, high_b = 4;

  template <class T>
  HG_HD T slope_a(T, T, T) const {
    return T(1);
  }
};

// n is rounded down, so y has the sign of b.
struct Remainder : Modulo {
  static constexpr auto name = "remainder";
  static constexpr double roundoffs = 2;

  template <class T>
  HG_HD T value(T a, T b) const {
    return floored_remainder(a, b);
  }
  template <class T>
  HG_HD T slope_b(T a, T b, T) const {
    return -floored_quotient(a, b);
  }
  // fmod does not round; only the sum does.
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y) {
    const Bounded left = a.number(std::fmod(x.value, y.value));
    const bool same_signs = std::signbit(left.value) == std::signbit(y.value);
    return left.value == 0 || same_signs ? left : a.add(left, y);
  }
};

// n is rounded toward 0, so y has the sign of a.
struct FMod : Modulo {
  static constexpr auto name = "fmod";
  static constexpr double roundoffs = 0;

  template <class T>
  HG_HD T value(T a, T b) const {
    return truncated_remainder(a, b);
  }
  template <class T>
  HG_HD T slope_b(T a, T b, T) const {
    return -truncated_quotient(a, b);
  }
  static double reference(double a, double b) { return std::fmod(a, b); }
};

template <class F>
Tensor modulo(const F& f, const Tensor& self, const Tensor& other) {
  const auto [a, b] = in_one_dtype(self, other);
  return divide(f, a, b);
}

}  // namespace

OpEntry remainder_entry() {
  return elementwise_entry(Remainder{},
                           [](const Tensor& a, const Tensor& b) { return remainder(a, b); });
}
OpEntry fmod_entry() {
  return elementwise_entry(FMod{}, [](const Tensor& a, const Tensor& b) { return fmod(a, b); });
}

}  // namespace detail

Tensor remainder(const Tensor& self, const Tensor& other) {
  return detail::modulo(detail::Remainder{}, self, other);
}
Tensor fmod(const Tensor& self, const Tensor& other) {
  return detail::modulo(detail::FMod{}, self, other);
}

}  // namespace halfgrad
