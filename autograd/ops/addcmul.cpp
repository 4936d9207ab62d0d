#include <array>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a + value b c, elementwise and rounded once; a, b and c broadcast
// dy/da = 1,  dy/db = value c,  dy/dc = value b
struct AddCMul : ElementwiseDefaults {
  static constexpr auto name = "addcmul";
  static constexpr auto precision = Precision::widest_operand;
  static constexpr bool integers = true;
  static constexpr std::array reads = {kSavesNothing, operands(2), operands(1)};
  static constexpr double low = -2, high = 2, roundoffs = 8;  // |b c| reaches 4
  Scalar factor = 1;

  template <class T>
  HG_HD T value(T a, T b, T c) const {
    return a + as<T>(factor) * b * c;
  }
  template <class T>
  HG_HD T slope_a(T, T, T, T) const {
    return T(1);
  }
  template <class T>
  HG_HD T slope_b(T, T, T c, T) const {
    return as<T>(factor) * c;
  }
  template <class T>
  HG_HD T slope_c(T, T b, T, T) const {
    return as<T>(factor) * b;
  }
  Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y, Bounded z) const {
    return a.add(x, a.mul(scaled(a, y, factor.to<double>()), z));
  }
};

// y = a + value b / c, elementwise and rounded once; a, b and c broadcast
// dy/da = 1,  dy/db = value / c,  dy/dc = -value b / c^2
struct AddCDiv : ElementwiseDefaults {
  static constexpr auto name = "addcdiv";
  static constexpr auto precision = Precision::widest_operand;
  static constexpr std::array reads = {kSavesNothing, operands(2), operands(1, 2)};
  static constexpr double low = 0.5, high = 2, roundoffs = 8;  // |b / c| reaches 4
  Scalar factor = 1;

  template <class T>
  HG_HD T value(T a, T b, T c) const {
    return a + as<T>(factor) * b / c;
  }
  template <class T>
  HG_HD T slope_a(T, T, T, T) const {
    return T(1);
  }
  template <class T>
  HG_HD T slope_b(T, T, T c, T) const {
    return as<T>(factor) / c;
  }
  template <class T>
  HG_HD T slope_c(T, T b, T c, T) const {
    return -as<T>(factor) * b / c / c;  // c * c may underflow or overflow
  }
  Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y, Bounded z) const {
    return a.add(x, a.div(scaled(a, y, factor.to<double>()), z));
  }
};

using Public = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, Scalar);

template <class F>
OpEntry with_values(Public function) {
  const auto run = [=](Scalar value) {
    return
        [=](const Tensor& a, const Tensor& b, const Tensor& c) { return function(a, b, c, value); };
  };
  OpEntry entry = elementwise_entry(F{}, run(1));
  add_examples(entry, F{{}, -0.3}, run(-0.3), "value -0.3");
  return entry;
}

}  // namespace

OpEntry addcmul_entry() { return with_values<AddCMul>(addcmul); }
OpEntry addcdiv_entry() { return with_values<AddCDiv>(addcdiv); }

}  // namespace detail

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  detail::expect_fitting_factor("addcmul", "value", value, self, tensor1, tensor2);
  return detail::apply_elementwise(detail::AddCMul{{}, value}, self, tensor1, tensor2);
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  if (!tensor1.is_floating_point() && !tensor2.is_floating_point()) {
    detail::fail("addcdiv", "expected a floating-point tensor1 or tensor2, got {} and {}",
                 tensor1.dtype(), tensor2.dtype());
  }
  return detail::apply_elementwise(detail::AddCDiv{{}, value}, self, tensor1, tensor2);
}

}  // namespace halfgrad
