#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/predicate.h>

namespace halfgrad {
namespace detail {
namespace {

// y = [a and b], [a or b], [a xor b] or [not a], elementwise, as bool; no gradient.
// Every element other than 0 counts as true.
struct Logic : Predicate {
  static constexpr double low = 0, high = 1;

  template <class T>
  HG_HD static mask_t<T> truth(T x) {
    return x != T(0);
  }
};

struct And : Logic {
  static constexpr auto name = "logical_and";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(truth(a) & truth(b));
  }
  static double reference(double a, double b) { return a != 0 && b != 0; }
};

struct Or : Logic {
  static constexpr auto name = "logical_or";
  template <class T>
  HG_HD T value(T a, T b) const {
    return one_if<T>(truth(a) | truth(b));
  }
  static double reference(double a, double b) { return a != 0 || b != 0; }
};

struct Xor : Logic {
  static constexpr auto name = "logical_xor";
  template <class T>
  HG_HD T value(T a, T b) const {
    return select(truth(a), one_if<T>(!truth(b)), one_if<T>(truth(b)));
  }
  static double reference(double a, double b) { return (a != 0) != (b != 0); }
};

struct Not : Logic {
  static constexpr auto name = "logical_not";
  template <class T>
  HG_HD T value(T x) const {
    return one_if<T>(!truth(x));
  }
  static double reference(double x) { return x == 0; }
};

template <class F, class Run>
OpEntry logic_entry(const F& f, const Run& run) {
  return predicate_entry(f, run, OperandSpec::Kind::boolean);
}

}  // namespace

OpEntry logical_and_entry() {
  return logic_entry(And{}, [](const Tensor& a, const Tensor& b) { return logical_and(a, b); });
}
OpEntry logical_or_entry() {
  return logic_entry(Or{}, [](const Tensor& a, const Tensor& b) { return logical_or(a, b); });
}
OpEntry logical_xor_entry() {
  return logic_entry(Xor{}, [](const Tensor& a, const Tensor& b) { return logical_xor(a, b); });
}
OpEntry logical_not_entry() {
  return logic_entry(Not{}, [](const Tensor& x) { return logical_not(x); });
}

}  // namespace detail

Tensor logical_and(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::And{}, self, other);
}
Tensor logical_or(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Or{}, self, other);
}
Tensor logical_xor(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Xor{}, self, other);
}
Tensor logical_not(const Tensor& self) { return detail::apply_elementwise(detail::Not{}, self); }

}  // namespace halfgrad
