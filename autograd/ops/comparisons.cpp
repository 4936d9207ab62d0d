#include <cmath>

#include <halfgrad/autograd/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

struct Comparison : ElementwiseDefaults {
  static constexpr bool integers = true;
  static constexpr bool boolean_result = true;
  static constexpr bool differentiable = false;
  static constexpr double low = -2, high = 2, roundoffs = 0;

  /// 1 where true, 0 where false.
  template <class T>
  HG_HD static T number(mask_t<T> truth) {
    return select(truth, T(1), T(0));
  }
};

struct Equal : Comparison {
  static constexpr auto name = "eq";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(a == b);
  }
  static double reference(double a, double b) { return a == b; }
};

struct NotEqual : Comparison {
  static constexpr auto name = "ne";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(a != b);
  }
  static double reference(double a, double b) { return a != b; }
};

struct Less : Comparison {
  static constexpr auto name = "lt";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(a < b);
  }
  static double reference(double a, double b) { return a < b; }
};

struct LessEqual : Comparison {
  static constexpr auto name = "le";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(a <= b);
  }
  static double reference(double a, double b) { return a <= b; }
};

struct Greater : Comparison {
  static constexpr auto name = "gt";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(a > b);
  }
  static double reference(double a, double b) { return a > b; }
};

struct GreaterEqual : Comparison {
  static constexpr auto name = "ge";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(a >= b);
  }
  static double reference(double a, double b) { return a >= b; }
};

struct IsFinite : Comparison {
  static constexpr auto name = "isfinite";
  static constexpr bool integers = false;
  template <class T>
  HG_HD T value(T x) const {
    return number<T>(math::isfinite(x));
  }
  static double reference(double x) { return std::isfinite(x); }
};

struct IsInf : Comparison {
  static constexpr auto name = "isinf";
  static constexpr bool integers = false;
  template <class T>
  HG_HD T value(T x) const {
    return number<T>(math::isinf(x));
  }
  static double reference(double x) { return std::isinf(x); }
};

struct IsNan : Comparison {
  static constexpr auto name = "isnan";
  static constexpr bool integers = false;
  template <class T>
  HG_HD T value(T x) const {
    return number<T>(math::isnan(x));
  }
  static double reference(double x) { return std::isnan(x); }
};

/// A floating-point tensor is compared with the nearest number of its dtype.
Tensor comparable(Scalar scalar, const Tensor& with) {
  const Tensor number = wrap(scalar, with.device());
  return with.is_floating_point() ? to(number, with.dtype()) : number;
}

// Random numbers are never equal: integers are.
template <class F, class Run>
OpEntry comparison_entry(const F& f, const Run& run) {
  OpEntry entry = elementwise_entry(f, run);
  for (OpExample& example : elementwise_examples(f, run, "integers, ")) {
    for (OperandSpec& operand : example.operands) operand.kind = OperandSpec::Kind::index;
    entry.examples.push_back(std::move(example));
  }
  return entry;
}

}  // namespace

OpEntry eq_entry() {
  return comparison_entry(Equal{}, [](const Tensor& a, const Tensor& b) { return eq(a, b); });
}
OpEntry ne_entry() {
  return comparison_entry(NotEqual{}, [](const Tensor& a, const Tensor& b) { return ne(a, b); });
}
OpEntry lt_entry() {
  return comparison_entry(Less{}, [](const Tensor& a, const Tensor& b) { return lt(a, b); });
}
OpEntry le_entry() {
  return comparison_entry(LessEqual{}, [](const Tensor& a, const Tensor& b) { return le(a, b); });
}
OpEntry gt_entry() {
  return comparison_entry(Greater{}, [](const Tensor& a, const Tensor& b) { return gt(a, b); });
}
OpEntry ge_entry() {
  return comparison_entry(GreaterEqual{},
                          [](const Tensor& a, const Tensor& b) { return ge(a, b); });
}
OpEntry isfinite_entry() {
  return comparison_entry(IsFinite{}, [](const Tensor& x) { return isfinite(x); });
}
OpEntry isinf_entry() {
  return comparison_entry(IsInf{}, [](const Tensor& x) { return isinf(x); });
}
OpEntry isnan_entry() {
  return comparison_entry(IsNan{}, [](const Tensor& x) { return isnan(x); });
}

}  // namespace detail

using detail::comparable;

Tensor eq(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Equal{}, self, other);
}
Tensor ne(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::NotEqual{}, self, other);
}
Tensor lt(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Less{}, self, other);
}
Tensor le(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::LessEqual{}, self, other);
}
Tensor gt(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Greater{}, self, other);
}
Tensor ge(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::GreaterEqual{}, self, other);
}
Tensor isfinite(const Tensor& self) { return detail::apply_elementwise(detail::IsFinite{}, self); }
Tensor isinf(const Tensor& self) { return detail::apply_elementwise(detail::IsInf{}, self); }
Tensor isnan(const Tensor& self) { return detail::apply_elementwise(detail::IsNan{}, self); }

Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
Tensor operator==(const Tensor& a, Scalar b) { return eq(a, comparable(b, a)); }
Tensor operator!=(const Tensor& a, Scalar b) { return ne(a, comparable(b, a)); }
Tensor operator<(const Tensor& a, Scalar b) { return lt(a, comparable(b, a)); }
Tensor operator<=(const Tensor& a, Scalar b) { return le(a, comparable(b, a)); }
Tensor operator>(const Tensor& a, Scalar b) { return gt(a, comparable(b, a)); }
Tensor operator>=(const Tensor& a, Scalar b) { return ge(a, comparable(b, a)); }

}  // namespace halfgrad
