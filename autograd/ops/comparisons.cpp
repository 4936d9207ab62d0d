#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/predicate.h>

namespace halfgrad {
namespace detail {
namespace {

// y = [a == b], elementwise, as bool; a and b broadcast. No comparison has a gradient.
struct Equal : Predicate {
  static constexpr auto name = "eq";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(a == b);
  }
  static double reference(double a, double b) { return a == b; }
};

struct NotEqual : Predicate {
  static constexpr auto name = "ne";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(a != b);
  }
  static double reference(double a, double b) { return a != b; }
};

struct Less : Predicate {
  static constexpr auto name = "lt";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(a < b);
  }
  static double reference(double a, double b) { return a < b; }
};

struct LessEqual : Predicate {
  static constexpr auto name = "le";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(a <= b);
  }
  static double reference(double a, double b) { return a <= b; }
};

struct Greater : Predicate {
  static constexpr auto name = "gt";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(a > b);
  }
  static double reference(double a, double b) { return a > b; }
};

struct GreaterEqual : Predicate {
  static constexpr auto name = "ge";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(a >= b);
  }
  static double reference(double a, double b) { return a >= b; }
};

}  // namespace

OpEntry eq_entry() {
  return predicate_entry(Equal{}, [](const Tensor& a, const Tensor& b) { return eq(a, b); });
}
OpEntry ne_entry() {
  return predicate_entry(NotEqual{}, [](const Tensor& a, const Tensor& b) { return ne(a, b); });
}
OpEntry lt_entry() {
  return predicate_entry(Less{}, [](const Tensor& a, const Tensor& b) { return lt(a, b); });
}
OpEntry le_entry() {
  return predicate_entry(LessEqual{}, [](const Tensor& a, const Tensor& b) { return le(a, b); });
}
OpEntry gt_entry() {
  return predicate_entry(Greater{}, [](const Tensor& a, const Tensor& b) { return gt(a, b); });
}
OpEntry ge_entry() {
  return predicate_entry(GreaterEqual{}, [](const Tensor& a, const Tensor& b) { return ge(a, b); });
}

}  // namespace detail

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

}  // namespace halfgrad
