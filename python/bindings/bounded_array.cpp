#include <limits>
#include <optional>
#include <string>
#include <variant>

#include <nanobind/operators.h>
#include <nanobind/stl/variant.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bounded_binder.h>
#include <halfgrad/python/bindings/check.h>
#include <halfgrad/testing/bounded_ops.h>

/// The arrays with error bounds and their ops, for halfgrad.reference.
namespace halfgrad::python {
namespace {

using testing::BoundedArray;
using Operand = std::variant<BoundedArray, double>;

/// The operand, or a number as a constant.
BoundedArray array_of(const BoundedArray& like, const Operand& operand) {
  const auto* const number = std::get_if<double>(&operand);
  return number ? testing::constant(like, *number) : std::get<BoundedArray>(operand);
}

void bind_operators(BoundedClass& array) {
  array.def(nb::self + nb::self).def(nb::self + double()).def(double() + nb::self);
  array.def(nb::self - nb::self).def(nb::self - double()).def(double() - nb::self);
  array.def(nb::self * nb::self).def(nb::self * double()).def(double() * nb::self);
  array.def(nb::self / nb::self).def(nb::self / double()).def(double() / nb::self);
  array.def(-nb::self);
  array.def(nb::self < nb::self).def(nb::self < double());
  array.def(nb::self <= nb::self).def(nb::self <= double());
  array.def(nb::self > nb::self).def(nb::self > double());
  array.def(nb::self >= nb::self).def(nb::self >= double());
  array.def(
      "__eq__",
      [](const BoundedArray& a, const Operand& b) { return testing::eq(a, array_of(a, b)); },
      nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> typing.Any"));
  array.def("__matmul__", &testing::matmul, nb::is_operator());
  array.def("__pow__", &testing::pow, nb::is_operator());
  array.def("__abs__", &testing::abs);
  array.def("__bool__", [](const BoundedArray&) -> bool {
    throw nb::type_error(
        "Array: expected hr.where(condition, a, b) for a choice by an Array, got "
        "a use as bool");
  });
  array.attr("__array_ufunc__") = nb::none();  // NumPy's scalars leave operators to the Array
}

void bind_properties(BoundedClass& array) {
  array.def_prop_ro(
      "shape", [](const BoundedArray& self) { return self.sizes(); }, "The sizes, a tuple.");
  array.def_prop_ro(
      "ndim", [](const BoundedArray& self) { return self.dim(); }, "The number of dimensions.");
  array.def_prop_ro("T", &BoundedArray::t,
                    "The transpose of a matrix. Raises ValueError for other shapes.");
  array.def_prop_ro(
      "mT", [](const BoundedArray& self) { return self.transpose(-2, -1); },
      "The last two dimensions exchanged.");
  array.def("dim", &BoundedArray::dim, "The number of dimensions.");
  array.def("numel", &BoundedArray::numel, "The number of elements.");
  array.def("size", &BoundedArray::size, "dim"_a, "The size of one dimension.");
  array.def("size", [](const BoundedArray& self) { return self.sizes(); });
  array.def("__repr__", [](const BoundedArray& self) {
    return "<halfgrad.reference.Array of shape " +
           nb::cast<std::string>(nb::str(nb::cast(self.sizes()))) + ">";
  });
}

void bind_elementwise(BoundedBinder& ops) {
  ops.both("abs", &testing::abs, "|x| of each element.");
  ops.both("exp", &testing::exp, "e^x, by a kernel that may compute 2^(x log2(e)).");
  ops.both("log", &testing::log, "The natural logarithm.");
  ops.both("sqrt", &testing::sqrt, "The square root.");
  ops.both("rsqrt", &testing::rsqrt, "1 / sqrt(x).");
  ops.both("tanh", &testing::tanh, "The hyperbolic tangent.");
  ops.both("erf", &testing::erf, "The error function.");
  ops.both("sigmoid", &testing::sigmoid, "1 / (1 + e^-x).");
  ops.both("relu", &testing::relu, "max(x, 0); NaN stays NaN.");
  ops.both("square", &testing::square, "x * x.");
  ops.both("pow", &testing::pow, "exponent"_a,
           "x to a whole power, by repeated products; a negative power is a reciprocal.");
  ops.function("silu", &testing::silu, "x * sigmoid(x).");
  ops.function("normal_cdf", &testing::normal_cdf,
               "Phi(x), the distribution function of the normal distribution: gelu(x) = x Phi(x).");
  ops.function(
      "gelu",
      [](const BoundedArray& x, const std::string& approximate) {
        if (approximate != "none" && approximate != "tanh") {
          detail::fail("gelu", "expected approximate = none or tanh, got {}", approximate);
        }
        return testing::gelu(x, approximate == "tanh");
      },
      nb::kw_only(), "approximate"_a = "none",
      "x Phi(x), or its approximation by tanh for approximate=\"tanh\".");
  ops.both(
      "clamp",
      [](const BoundedArray& x, std::optional<double> min, std::optional<double> max) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return testing::clamp(x, min.value_or(-kInfinity), max.value_or(kInfinity));
      },
      "min"_a = nb::none(), "max"_a = nb::none(), "Values below min become min, above max, max.");
  ops.both("maximum", &testing::maximum, "other"_a, "The larger of both elements; NaN if one is.");
  ops.both("minimum", &testing::minimum, "other"_a, "The smaller of both elements; NaN if one is.");
  ops.both("eq", &testing::eq, "other"_a, "1 where both are equal, else 0.");
  ops.both("masked_fill", &testing::masked_fill, "mask"_a, "value"_a,
           "`value` where the mask is not 0, else x.");
}

void bind_choices(BoundedBinder& ops) {
  ops.module.def(
      "where",
      [](const BoundedArray& condition, const Operand& input, const Operand& other) {
        return testing::where(condition, array_of(condition, input), array_of(condition, other));
      },
      "condition"_a, "input"_a, "other"_a, "`input` where the condition is not 0, else `other`.");
  ops.module.def("constant", &testing::constant, "like"_a, "value"_a,
                 "A constant of the kernel's source code, which the kernel may have to round.");
  ops.function("zeros_like", &testing::zeros_like, "Zeros of x's shape.");
  ops.module.def(
      "either", &testing::either, "best"_a, "usual"_a,
      "Two formulas of one result: a kernel may use either. The value is that of `best`,\n"
      "the more exact one. Needed where equal formulas have errors of another size.");
  ops.function("stored", &testing::stored,
               "A result that a kernel may store in its output's dtype and load again.");
}

}  // namespace

void bind_bounded_arrays(nb::module_& module) {
  BoundedClass array(module, "Array",
                     "Values with error bounds: an operand or a result of a formula.");
  BoundedBinder ops{module, array};
  bind_operators(array);
  bind_properties(array);
  bind_elementwise(ops);
  bind_choices(ops);
  bind_bounded_reductions(ops);
  bind_bounded_shapes(ops);
}

}  // namespace halfgrad::python
