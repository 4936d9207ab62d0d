#include <halfgrad/autograd/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

/// Every number but 0 counts as true.
struct Logic : ElementwiseDefaults {
  static constexpr bool integers = true;
  static constexpr bool boolean_result = true;
  static constexpr bool differentiable = false;
  static constexpr double low = 0, high = 1, roundoffs = 0;

  template <class T>
  HG_HD static mask_t<T> truth(T x) {
    return x != T(0);
  }
  template <class T>
  HG_HD static T number(mask_t<T> truth) {
    return select(truth, T(1), T(0));
  }
};

struct And : Logic {
  static constexpr auto name = "logical_and";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(truth(a) & truth(b));
  }
  static double reference(double a, double b) { return a != 0 && b != 0; }
};

struct Or : Logic {
  static constexpr auto name = "logical_or";
  template <class T>
  HG_HD T value(T a, T b) const {
    return number<T>(truth(a) | truth(b));
  }
  static double reference(double a, double b) { return a != 0 || b != 0; }
};

struct Xor : Logic {
  static constexpr auto name = "logical_xor";
  template <class T>
  HG_HD T value(T a, T b) const {
    return select(truth(a), number<T>(!truth(b)), number<T>(truth(b)));
  }
  static double reference(double a, double b) { return (a != 0) != (b != 0); }
};

struct Not : Logic {
  static constexpr auto name = "logical_not";
  template <class T>
  HG_HD T value(T x) const {
    return number<T>(!truth(x));
  }
  static double reference(double x) { return x == 0; }
};

template <class F, class Run>
OpEntry logic_entry(const F& f, const Run& run) {
  OpEntry entry = elementwise_entry(f, run);
  for (OpExample& example : elementwise_examples(f, run, "bool, ")) {
    for (OperandSpec& operand : example.operands) operand.kind = OperandSpec::Kind::boolean;
    entry.examples.push_back(std::move(example));
  }
  return entry;
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
