#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a b, elementwise; a and b broadcast
// dy/da = b,  dy/db = a
struct Mul : ElementwiseDefaults {
  static constexpr auto name = "mul";
  static constexpr bool integers = true;
  static constexpr std::array reads = {operands(1), operands(0)};
  static constexpr double low = -4, high = 4, roundoffs = 1;

  template <class T>
  HG_HD T value(T a, T b) const {
    return a * b;
  }
  template <class T>
  HG_HD T slope_a(T, T b, T) const {
    return b;
  }
  template <class T>
  HG_HD T slope_b(T a, T, T) const {
    return a;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded y) { return a.mul(x, y); }
};

}  // namespace

OpEntry mul_entry() {
  return elementwise_entry(Mul{}, [](const Tensor& a, const Tensor& b) { return mul(a, b); });
}

}  // namespace detail

void detail::mul_into(const Array& out, const Array& a, const Array& b) {
  elementwise(ValueKernel<Mul>{}, out.dtype(), out, a, b);
}

Tensor mul(const Tensor& self, const Tensor& other) {
  return detail::apply_elementwise(detail::Mul{}, self, other);
}

}  // namespace halfgrad
