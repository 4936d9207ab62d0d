#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a + alpha b, elementwise; a and b broadcast
// dy/da = 1,  dy/db = alpha
struct Add : ElementwiseDefaults {
  static constexpr auto name = "add";
  static constexpr unsigned saves = kSavesNothing;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 4;
  Scalar alpha = 1;

  template <class T>
  HG_HD T value(T a, T b) const {
    return alpha.cast<double>() == 1 ? a + b : math::multiply_add(as<T>(alpha), b, a);
  }
  template <class T>
  HG_HD T slope_a(T, T, T) const {
    return T(1);
  }
  template <class T>
  HG_HD T slope_b(T, T, T) const {
    return as<T>(alpha);
  }
  Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y) const {
    return a.add(x, scaled(a, y, alpha.to<double>()));
  }
};

// y = a - alpha b, elementwise; a and b broadcast
// dy/da = 1,  dy/db = -alpha
struct Sub : ElementwiseDefaults {
  static constexpr auto name = "sub";
  static constexpr unsigned saves = kSavesNothing;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 4;
  Scalar alpha = 1;

  template <class T>
  HG_HD T value(T a, T b) const {
    return alpha.cast<double>() == 1 ? a - b : math::multiply_add(as<T>(alpha), -b, a);
  }
  template <class T>
  HG_HD T slope_a(T, T, T) const {
    return T(1);
  }
  template <class T>
  HG_HD T slope_b(T, T, T) const {
    return -as<T>(alpha);
  }
  Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y) const {
    return a.sub(x, scaled(a, y, alpha.to<double>()));
  }
};

}  // namespace

OpEntry add_entry() {
  OpEntry entry =
      elementwise_entry(Add{}, [](const Tensor& a, const Tensor& b) { return add(a, b); });
  add_examples(
      entry, Add{{}, -0.3}, [](const Tensor& a, const Tensor& b) { return add(a, b, -0.3); },
      "alpha -0.3");
  return entry;
}
OpEntry sub_entry() {
  OpEntry entry =
      elementwise_entry(Sub{}, [](const Tensor& a, const Tensor& b) { return sub(a, b); });
  add_examples(
      entry, Sub{{}, -0.3}, [](const Tensor& a, const Tensor& b) { return sub(a, b, -0.3); },
      "alpha -0.3");
  return entry;
}

void add_into(const Array& target, const Array& source) {
  elementwise(ValueKernel<Add>{}, promote_types(target.dtype(), source.dtype()), target, target,
              source);
}

}  // namespace detail

Tensor add(const Tensor& self, const Tensor& other, Scalar alpha) {
  detail::expect_fitting_factor("add", "alpha", alpha, self, other);
  // The sum of bool tensors is their logical or: every alpha other than 0 counts as true.
  const bool masks = self.dtype() == kBool && other.dtype() == kBool;
  const Scalar factor = masks ? Scalar(alpha.to<bool>()) : alpha;
  return detail::apply_elementwise(detail::Add{{}, factor}, self, other);
}
Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha) {
  if (self.dtype() == kBool || other.dtype() == kBool) {
    detail::fail("sub",
                 "expected numeric tensors, got a bool tensor; logical_not() inverts a mask");
  }
  detail::expect_fitting_factor("sub", "alpha", alpha, self, other);
  return detail::apply_elementwise(detail::Sub{{}, alpha}, self, other);
}

}  // namespace halfgrad
