#include <numbers>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = log(x), elementwise
// dy/dx = 1 / x
struct Log : ElementwiseDefaults {
  static constexpr auto name = "log";
  static constexpr auto precision = Precision::wide_range;
  static constexpr double low = 0.1, high = 10, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::log(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return T(1) / x;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.log(x); }
};

// y = log(x) / log(2), elementwise
// dy/dx = 1 / (log(2) x)
struct Log2 : ElementwiseDefaults {
  static constexpr auto name = "log2";
  static constexpr auto precision = Precision::wide_range;
  static constexpr double low = 0.1, high = 10, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::log2(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return T(1) / (T(std::numbers::ln2) * x);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.log2(x); }
};

// y = log(x) / log(10), elementwise
// dy/dx = 1 / (log(10) x)
struct Log10 : ElementwiseDefaults {
  static constexpr auto name = "log10";
  static constexpr auto precision = Precision::wide_range;
  static constexpr double low = 0.1, high = 10, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::log10(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return T(1) / (T(std::numbers::ln10) * x);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.log10(x); }
};

// y = log(1 + x), elementwise, accurate for small x
// dy/dx = 1 / (1 + x)
struct Log1p : ElementwiseDefaults {
  static constexpr auto name = "log1p";
  static constexpr auto precision = Precision::wide_range;
  static constexpr double low = -0.9, high = 10, roundoffs = 4;

  template <class T>
  HG_HD T value(T x) const {
    return math::log1p(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return T(1) / (T(1) + x);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x) { return a.log1p(x); }
};

}  // namespace

OpEntry log_entry() {
  return elementwise_entry(
      Log{}, [](const Tensor& x) { return log(x); }, &Tensor::log, &Tensor::log_);
}
OpEntry log2_entry() {
  return elementwise_entry(
      Log2{}, [](const Tensor& x) { return log2(x); }, &Tensor::log2, &Tensor::log2_);
}
OpEntry log10_entry() {
  return elementwise_entry(
      Log10{}, [](const Tensor& x) { return log10(x); }, &Tensor::log10, &Tensor::log10_);
}
OpEntry log1p_entry() {
  return elementwise_entry(
      Log1p{}, [](const Tensor& x) { return log1p(x); }, &Tensor::log1p, &Tensor::log1p_);
}

}  // namespace detail

Tensor log(const Tensor& self) { return detail::apply_elementwise(detail::Log{}, self); }
Tensor detail::UnaryMethods::log() const { return halfgrad::log(self()); }
Tensor& detail::UnaryMethods::log_() const { return apply_in_place<Log>(self(), halfgrad::log); }
Tensor log2(const Tensor& self) { return detail::apply_elementwise(detail::Log2{}, self); }
Tensor detail::UnaryMethods::log2() const { return halfgrad::log2(self()); }
Tensor& detail::UnaryMethods::log2_() const { return apply_in_place<Log2>(self(), halfgrad::log2); }
Tensor log10(const Tensor& self) { return detail::apply_elementwise(detail::Log10{}, self); }
Tensor detail::UnaryMethods::log10() const { return halfgrad::log10(self()); }
Tensor& detail::UnaryMethods::log10_() const {
  return apply_in_place<Log10>(self(), halfgrad::log10);
}
Tensor log1p(const Tensor& self) { return detail::apply_elementwise(detail::Log1p{}, self); }
Tensor detail::UnaryMethods::log1p() const { return halfgrad::log1p(self()); }
Tensor& detail::UnaryMethods::log1p_() const {
  return apply_in_place<Log1p>(self(), halfgrad::log1p);
}

}  // namespace halfgrad
