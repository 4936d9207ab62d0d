#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

struct Choose {
  static constexpr auto name = "where";
  static constexpr bool integers = true;
  static constexpr bool differentiable = true;
  static constexpr double low = -2, high = 2, roundoffs = 0;

  template <class T>
  HG_HD T operator()(T condition, T a, T b) const {
    return select(condition != T(0), a, b);
  }
  static double reference(double condition, double a, double b) { return condition != 0 ? a : b; }
};

// y = condition ? a : b, elementwise; all three broadcast
struct Where {
  static constexpr auto name = "where";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = operands(0);
  DType dtype = DType::f32;

  void prepare(std::span<const Tensor> operands) {
    for (const Tensor& operand : operands)
      static_cast<void>(operand.array());  // throws if undefined
    dtype = result_type(operands.subspan(1));
  }

  Array forward(const Array& condition, const Array& a, const Array& b) const {
    const Shape sizes =
        broadcast_shapes(condition.sizes(), broadcast_shapes(a.sizes(), b.sizes(), name), name);
    const Array out = Array::empty(sizes, dtype, condition.device());
    elementwise(Choose{}, dtype, out, condition, a, b);
    return out;
  }

  // da = condition ? dy : 0,  db = condition ? 0 : dy
  // Selects instead of multiplying by 0 or 1: dy may be infinite.
  void backward(const Backward<3>& b) const {
    const Tensor condition = b.input(0);
    const Tensor zero = wrap(0, b.grad().device());
    if (b.needs(1)) b.set(1, where(condition, b.grad(), zero));
    if (b.needs(2)) b.set(2, where(condition, zero, b.grad()));
  }
};

}  // namespace

OpEntry where_entry() {
  OpEntry entry{Where::name, Where::precision, Choose::roundoffs, true, true, {}};
  entry.examples =
      elementwise_examples(Choose{}, [](const Tensor& condition, const Tensor& a, const Tensor& b) {
        return where(condition, a, b);
      });
  for (OpExample& example : entry.examples) {
    example.operands[0].kind = OperandSpec::Kind::boolean;
    example.operands[0].differentiable = false;
  }
  return entry;
}

}  // namespace detail

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  if (condition.dtype() != kBool) {
    detail::fail("where", "expected a condition of bool, got {}", condition.dtype());
  }
  return detail::apply(detail::Where{}, condition, self, other);
}

}  // namespace halfgrad
