#include <numbers>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = e^x, elementwise
// dy/dx = e^x = y
struct Exp : ElementwiseDefaults {
  static constexpr auto name = "exp";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -8, high = 8, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::exp(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.exp(x); }
};

// y = 2^x, elementwise
// dy/dx = log(2) 2^x = log(2) y
// Overflows in 16 bits as exp does, but no list of PyTorch's autocast has it.
struct Exp2 : ElementwiseDefaults {
  static constexpr auto name = "exp2";
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -8, high = 8, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::exp2(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return T(std::numbers::ln2) * y;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.exp2(x); }
};

// y = e^x - 1, elementwise, accurate for small x
// dy/dx = e^x = y + 1
struct Expm1 : ElementwiseDefaults {
  static constexpr auto name = "expm1";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -8, high = 8, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::expm1(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return y + T(1);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.expm1(x); }
};

}  // namespace

OpEntry exp_entry() {
  return elementwise_entry(
      Exp{}, [](const Tensor& x) { return exp(x); }, &Tensor::exp, &Tensor::exp_);
}
OpEntry exp2_entry() {
  return elementwise_entry(
      Exp2{}, [](const Tensor& x) { return exp2(x); }, &Tensor::exp2, &Tensor::exp2_);
}
OpEntry expm1_entry() {
  return elementwise_entry(
      Expm1{}, [](const Tensor& x) { return expm1(x); }, &Tensor::expm1, &Tensor::expm1_);
}

}  // namespace detail

Tensor exp(const Tensor& self) { return detail::apply_elementwise(detail::Exp{}, self); }
Tensor detail::UnaryMethods::exp() const { return halfgrad::exp(self()); }
Tensor& detail::UnaryMethods::exp_() const { return apply_in_place<Exp>(self(), halfgrad::exp); }
Tensor exp2(const Tensor& self) { return detail::apply_elementwise(detail::Exp2{}, self); }
Tensor detail::UnaryMethods::exp2() const { return halfgrad::exp2(self()); }
Tensor& detail::UnaryMethods::exp2_() const { return apply_in_place<Exp2>(self(), halfgrad::exp2); }
Tensor expm1(const Tensor& self) { return detail::apply_elementwise(detail::Expm1{}, self); }
Tensor detail::UnaryMethods::expm1() const { return halfgrad::expm1(self()); }
Tensor& detail::UnaryMethods::expm1_() const {
  return apply_in_place<Expm1>(self(), halfgrad::expm1);
}

}  // namespace halfgrad
