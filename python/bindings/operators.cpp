#include <halfgrad/autograd/composed/bits.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/bindings.h>

/// Python's operators. One that does not know its operand returns NotImplemented.
namespace halfgrad::python {

namespace {

using OfTensors = Tensor (*)(const Tensor&, const Tensor&);
using OfScalar = Tensor (*)(const Tensor&, Scalar);
using Reflected = Tensor (*)(Scalar, const Tensor&);

struct Operator {
  const char* name;
  OfTensors of_tensors;
  OfScalar of_scalar;  ///< null if there is none
};

Tensor quotient(const Tensor& a, Scalar b) { return a / b; }
Tensor floored(const Tensor& a, const Tensor& b) { return floor_divide(a, b); }

constexpr Operator kOperators[] = {
    {"__add__", &operator+, &operator+ },
     {"__sub__", &operator-, &operator- },
      {"__mul__", &operator*, &operator* }, {"__truediv__", &operator/, &quotient},
       {"__floordiv__", &floored, &floor_divide},
       {"__mod__", &operator%, &operator% }, {"__pow__", &pow, &pow},
        {"__matmul__", &matmul, nullptr},
        {"__eq__", &operator==, &operator== },
         {"__ne__", &operator!=, &operator!= },
          {"__lt__", &operator<, &operator<},
           {"__le__", &operator<=, &operator<= },
            {"__gt__", &operator>, &operator> },
             {"__ge__", &operator>=, &operator>= },
              {"__and__", &operator&, &operator& },
               {"__or__", &operator|, &operator| },
                {
                    "__xor__",
                    &operator^,
                    &operator^ },
                    {"__lshift__", &bitwise_left_shift, &bitwise_left_shift},
                    {"__rshift__", &bitwise_right_shift, &bitwise_right_shift},
               };

struct ReflectedOperator {
  const char* name;
  Reflected function;
};

Tensor floored_from(Scalar a, const Tensor& b) { return (a / b).floor(); }

constexpr ReflectedOperator kReflected[] = {
    {"__radd__", &operator+ },
     {"__rsub__", &operator- },
      {"__rmul__", &operator* },
       {"__rmod__", &operator% },
        {"__rtruediv__", &operator/ }, {"__rpow__", &pow}, {"__rfloordiv__", &floored_from},
         {"__rand__", &operator& },
          {"__ror__", &operator| },
           {
               "__rxor__",
               &operator^ },
          };

}  // namespace

void bind_operators(TensorClass& tensor) {
  for (const Operator& op : kOperators) {
    tensor.def(op.name, op.of_tensors, "other"_a, nb::is_operator(), ReleaseGil());
    tensor.def(
        op.name,
        [function = op.of_tensors](const Tensor& self, const NumPyArray& other) {
          const Tensor converted = tensor_of(other.array, std::nullopt, self.device());
          const nb::gil_scoped_release release;
          return function(self, converted);
        },
        "other"_a, nb::is_operator());
    if (op.of_scalar == nullptr) continue;
    tensor.def(op.name, op.of_scalar, "other"_a, nb::is_operator(), ReleaseGil());
  }
  for (const ReflectedOperator& op : kReflected) {
    tensor.def(
        op.name,
        [function = op.function](const Tensor& self, Scalar other) {
          return function(other, self);
        },
        "other"_a, nb::is_operator(), ReleaseGil());
  }
}

}  // namespace halfgrad::python
