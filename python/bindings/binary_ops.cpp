#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/op_binder.h>

/// Ops of two tensors, or of a tensor and a number. Shapes broadcast.
namespace halfgrad::python {
namespace {

using OfTensors = Tensor (*)(const Tensor&, const Tensor&);
using OfScalar = Tensor (*)(const Tensor&, Scalar);
using Methods = detail::InPlaceMethods;
using InPlaceOfTensor = Tensor& (Methods::*)(const Tensor&) const;
using InPlaceOfScalar = Tensor& (Methods::*)(Scalar) const;

struct BinaryOp {
  const char* name;
  OfTensors of_tensors;
  OfScalar of_scalar;  ///< null if there is none
  const char* doc;
};

constexpr BinaryOp kBinaryOps[] = {
    {"mul", &mul, &mul, "input * other."},
    {"floor_divide", &floor_divide, &floor_divide, "floor(input / other)."},
    {"remainder", &remainder, &remainder,
     "The remainder of input / other, with the sign of other, as Python's %."},
    {"fmod", &fmod, &fmod, "The remainder of input / other, with the sign of input, as in C."},
    {"eq", &eq, &eq, "True where both are equal."},
    {"ne", &ne, &ne, "True where they differ."},
    {"lt", &lt, &lt, "True where input < other."},
    {"le", &le, &le, "True where input <= other."},
    {"gt", &gt, &gt, "True where input > other."},
    {"ge", &ge, &ge, "True where input >= other."},
    {"not_equal", &ne, &ne, "ne()."},
    {"less", &lt, &lt, "lt()."},
    {"less_equal", &le, &le, "le()."},
    {"greater", &gt, &gt, "gt()."},
    {"greater_equal", &ge, &ge, "ge()."},
    {"multiply", &mul, &mul, "mul()."},
    {"maximum", &maximum, nullptr, "The larger of both elements; NaN if one is."},
    {"minimum", &minimum, nullptr, "The smaller of both elements; NaN if one is."},
    {"logical_and", &logical_and, nullptr, "True where both are not 0."},
    {"logical_or", &logical_or, nullptr, "True where one is not 0."},
    {"logical_xor", &logical_xor, nullptr, "True where exactly one is not 0."},
};

struct InPlaceOp {
  const char* name;
  InPlaceOfTensor of_tensor;
  InPlaceOfScalar of_scalar;
};

constexpr InPlaceOp kInPlaceOps[] = {
    {"mul_", &Methods::mul_, &Methods::mul_}, {"__imul__", &Methods::mul_, &Methods::mul_},
    {"__itruediv__", &Methods::div_, &Methods::div_},
    {"__iadd__", &Methods::operator+=, &Methods::operator+= },
     {
         "__isub__",
         &Methods::operator-=,
         &Methods::operator-= },
         {"floor_divide_", &Methods::floor_divide_, &Methods::floor_divide_},
         {"__ifloordiv__", &Methods::floor_divide_, &Methods::floor_divide_},
         {"remainder_", &Methods::remainder_, &Methods::remainder_},
         {"__imod__", &Methods::remainder_, &Methods::remainder_},
         {"fmod_", &Methods::fmod_, &Methods::fmod_},
         {"pow_", &Methods::pow_, &Methods::pow_},
         {"__ipow__", &Methods::pow_, &Methods::pow_},
         {"clamp_min_", &Methods::clamp_min_, &Methods::clamp_min_},
         {"clamp_max_", &Methods::clamp_max_, &Methods::clamp_max_},
    };

/// Without it Python would compute `x += array` as `x = x + array`.
void bind_array(TensorClass& tensor, const InPlaceOp& op) {
  tensor.def(
      op.name,
      [method = op.of_tensor](Tensor& self, const NumPyArray& other) -> Tensor& {
        const Tensor converted = tensor_of(other.array, std::nullopt, self.device());
        const nb::gil_scoped_release release;
        return (self.*method)(converted);
      },
      "other"_a, nb::rv_policy::none);
}

void bind_in_place(OpBinder& ops, TensorClass& tensor) {
  for (const InPlaceOp& op : kInPlaceOps) {
    ops.in_place(
        op.name,
        [method = op.of_tensor](Tensor& self, const Tensor& other) -> Tensor& {
          return (self.*method)(other);
        },
        "other"_a);
    if (std::string_view(op.name).starts_with("__")) bind_array(tensor, op);
    ops.in_place(
        op.name,
        [method = op.of_scalar](Tensor& self, Scalar other) -> Tensor& {
          return (self.*method)(other);
        },
        "other"_a);
  }
}

using WithAlpha = Tensor (*)(const Tensor&, const Tensor&, Scalar);
using WithScalarAndAlpha = Tensor (*)(const Tensor&, Scalar, Scalar);
using Mode = std::optional<std::string_view>;

void bind_sums(OpBinder& ops) {
  const char* const doc = "input + alpha * other.";
  ops.both("add", WithAlpha(&add), "other"_a, nb::kw_only(), "alpha"_a = 1, doc);
  ops.both("add", WithScalarAndAlpha(&add), "other"_a, nb::kw_only(), "alpha"_a = 1);
  for (const char* const name : {"sub", "subtract"}) {
    ops.both(name, WithAlpha(&sub), "other"_a, nb::kw_only(), "alpha"_a = 1,
             "input - alpha * other.");
    ops.both(name, WithScalarAndAlpha(&sub), "other"_a, nb::kw_only(), "alpha"_a = 1);
  }
  const auto in_place = [&](const char* name, auto of_tensor, auto of_scalar) {
    ops.in_place(
        name,
        [of_tensor](Tensor& self, const Tensor& other, Scalar alpha) -> Tensor& {
          return (self.*of_tensor)(other, alpha);
        },
        "other"_a, nb::kw_only(), "alpha"_a = 1);
    ops.in_place(
        name,
        [of_scalar](Tensor& self, Scalar other, Scalar alpha) -> Tensor& {
          return (self.*of_scalar)(other, alpha);
        },
        "other"_a, nb::kw_only(), "alpha"_a = 1);
  };
  using Of = Tensor& (Methods::*)(const Tensor&, Scalar) const;
  using OfNumber = Tensor& (Methods::*)(Scalar, Scalar) const;
  in_place("add_", Of(&Methods::add_), OfNumber(&Methods::add_));
  in_place("sub_", Of(&Methods::sub_), OfNumber(&Methods::sub_));
}

void bind_quotients(OpBinder& ops) {
  const auto mode = [] { return nb::arg("rounding_mode") = nb::none(); };
  using Divide = Tensor (*)(const Tensor&, const Tensor&, Mode);
  using DivideByScalar = Tensor (*)(const Tensor&, Scalar, Mode);
  for (const char* const name : {"div", "divide"}) {
    ops.both(name, Divide(&div), "other"_a, nb::kw_only(), mode(),
             "input / other, or rounded to an integer: rounding_mode \"trunc\" or \"floor\".");
    ops.both(name, DivideByScalar(&div), "other"_a, nb::kw_only(), mode());
  }
  ops.both("true_divide", OfTensors(&div), "other"_a, "input / other.");
  ops.both("true_divide", OfScalar(&div), "other"_a);
  ops.in_place(
      "div_",
      [](Tensor& self, const Tensor& other, Mode rounding) -> Tensor& {
        return self.div_(other, rounding);
      },
      "other"_a, nb::kw_only(), mode());
  ops.in_place(
      "div_",
      [](Tensor& self, Scalar other, Mode rounding) -> Tensor& {
        return self.div_(other, rounding);
      },
      "other"_a, nb::kw_only(), mode());
}

/// Functions whose first argument is a number.
void bind_numbers_first(OpBinder& ops) {
  using NumberFirst = Tensor (*)(Scalar, const Tensor&);
  const std::pair<const char*, NumberFirst> functions[] = {
      {"add", &operator+ },
       {"sub", &operator- }, {"mul", &operator* }, {"div", &operator/ }, {"remainder", &remainder}};
  for (const auto& [name, function] : functions) {
    ops.function(name, function, "input"_a, "other"_a);
  }
  ops.function(
      "rsub", [](const Tensor& input, Scalar other, Scalar alpha) { return other - input * alpha; },
      "input"_a, "other"_a, nb::kw_only(), "alpha"_a = 1, "other - alpha * input.");
  ops.function(
      "rsub",
      [](const Tensor& input, const Tensor& other, Scalar alpha) {
        return sub(other, input, alpha);
      },
      "input"_a, "other"_a, nb::kw_only(), "alpha"_a = 1);
}

void bind_powers(OpBinder& ops) {
  ops.both("pow", OfTensors(&pow), "exponent"_a, "input^exponent.");
  ops.both("pow", OfScalar(&pow), "exponent"_a);
  ops.function("pow", static_cast<Tensor (*)(Scalar, const Tensor&)>(&pow), "self"_a, "exponent"_a);
}

void bind_closeness(OpBinder& ops) {
  ops.both("isclose", &isclose, "other"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false,
           "True where |input - other| <= atol + rtol * |other|, and for equal infinities.");
  ops.both("allclose", &allclose, "other"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8,
           "equal_nan"_a = false, "Whether isclose() is True everywhere.");
  ops.both("equal", &equal, "other"_a, "Whether both have one shape and equal elements.");
}

}  // namespace

void bind_binary_ops(nb::module_& module, TensorClass& tensor) {
  OpBinder ops(module, tensor);
  for (const BinaryOp& op : kBinaryOps) {
    ops.both(op.name, op.of_tensors, "other"_a, op.doc);
    if (op.of_scalar != nullptr) ops.both(op.name, op.of_scalar, "other"_a);
  }
  bind_in_place(ops, tensor);
  bind_sums(ops);
  bind_quotients(ops);
  bind_numbers_first(ops);
  bind_powers(ops);
  bind_closeness(ops);
}

}  // namespace halfgrad::python
