#include <cmath>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/predicate.h>

namespace halfgrad {
namespace detail {
namespace {

// y = [x is neither infinite nor NaN], elementwise, as bool; no gradient
struct IsFinite : Predicate {
  static constexpr auto name = "isfinite";
  static constexpr bool integers = false;
  template <class T>
  HG_HD T value(T x) const {
    return one_if<T>(math::isfinite(x));
  }
  static double reference(double x) { return std::isfinite(x); }
};

// y = [x is infinite]
struct IsInf : Predicate {
  static constexpr auto name = "isinf";
  static constexpr bool integers = false;
  template <class T>
  HG_HD T value(T x) const {
    return one_if<T>(math::isinf(x));
  }
  static double reference(double x) { return std::isinf(x); }
};

// y = [x is NaN]
struct IsNan : Predicate {
  static constexpr auto name = "isnan";
  static constexpr bool integers = false;
  template <class T>
  HG_HD T value(T x) const {
    return one_if<T>(math::isnan(x));
  }
  static double reference(double x) { return std::isnan(x); }
};

}  // namespace

OpEntry isfinite_entry() {
  return predicate_entry(IsFinite{}, [](const Tensor& x) { return isfinite(x); });
}
OpEntry isinf_entry() {
  return predicate_entry(IsInf{}, [](const Tensor& x) { return isinf(x); });
}
OpEntry isnan_entry() {
  return predicate_entry(IsNan{}, [](const Tensor& x) { return isnan(x); });
}

}  // namespace detail

Tensor isfinite(const Tensor& self) { return detail::apply_elementwise(detail::IsFinite{}, self); }
Tensor isinf(const Tensor& self) { return detail::apply_elementwise(detail::IsInf{}, self); }
Tensor isnan(const Tensor& self) { return detail::apply_elementwise(detail::IsNan{}, self); }

}  // namespace halfgrad
