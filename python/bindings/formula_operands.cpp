#include <halfgrad/python/bindings/formula_operands.h>

#include <optional>
#include <variant>
#include <vector>

#include <nanobind/stl/variant.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::python {
namespace {

using testing::FormulaInput;
using testing::FormulaSize;
using testing::OutputSpec;

using Size = std::variant<std::int64_t, std::string>;
using Sizes = std::vector<Size>;

FormulaSize size_of(const Size& size) {
  if (const auto* const name = std::get_if<std::string>(&size)) return FormulaSize(*name);
  const std::int64_t number = std::get<std::int64_t>(size);
  if (number < 0) detail::fail("inputs", "expected a size of 0 or more, got {}", number);
  return FormulaSize(number);
}

FormulaInput input_of(const Sizes& sizes) {
  std::vector<FormulaSize> all;
  for (const Size& size : sizes) all.push_back(size_of(size));
  return FormulaInput(all);
}

/// The function of Python that maps a hostile value.
Admitted admitted_by(const nb::callable& function) {
  return [object = PythonObject(function)](double x) {
    const PythonLock lock;
    double y = 0;
    if (!nb::try_cast(object.get()(x), y)) {
      throw nb::type_error("input: expected a number as result of admitted");
    }
    return y;
  };
}

/// The function of Python that tells, from the operands in float64, which elements matter.
auto matters_by(const nb::callable& function) {
  return [object = PythonObject(function)](const std::vector<Values>& operands) {
    const PythonLock lock;
    nb::list arrays;
    for (const Values& operand : operands) {
      arrays.append(nb::cast(halfgrad::tensor_of(operand.data, operand.sizes)).attr("numpy")());
    }
    const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
    const nb::object flags = asarray(object.get()(*arrays), "dtype"_a = "bool");
    return nb::cast<std::vector<bool>>(flags.attr("ravel")().attr("tolist")());
  };
}

FormulaOperand input(const Sizes& sizes, double low, double high,
                     const std::optional<nb::callable>& admitted) {
  return {input_of(sizes).between(low, high), admitted ? admitted_by(*admitted) : Admitted()};
}

OutputSpec output(const std::string& name, bool wide, const std::optional<nb::callable>& matters) {
  OutputSpec spec{.name = name, .wide = wide};
  if (matters) spec.matters = matters_by(*matters);
  return spec;
}

}  // namespace

std::string shown(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

FormulaOperand operand_of(nb::handle given) {
  if (nb::isinstance<FormulaOperand>(given)) return nb::cast<FormulaOperand>(given);
  Sizes sizes;
  if (!nb::try_cast(given, sizes)) {
    detail::fail("inputs", "expected a tuple of sizes, as (\"m\", 4), or hr.input(), got {}",
                 shown(given));
  }
  return {input_of(sizes)};
}

OutputSpec output_of(nb::handle given) {
  if (nb::isinstance<OutputSpec>(given)) return nb::cast<OutputSpec>(given);
  std::string name;
  if (!nb::try_cast(given, name)) {
    detail::fail("outputs", "expected names or hr.output(), got {}", shown(given));
  }
  return {.name = name};
}

void bind_formula_operands(nb::module_& module) {
  nb::class_<FormulaOperand>(module, "Input", "An operand of a formula.");
  nb::class_<OutputSpec>(module, "Output", "An output of a formula.");
  module.def(
      "input", &input, "sizes"_a, nb::kw_only(), "low"_a = -2, "high"_a = 2,
      "admitted"_a = nb::none(),
      "An operand of these sizes, \"m\", \"n\", \"k\" or constants, whose ordinary values lie\n"
      "between low and high. Hostile values do not; `admitted(x)`, as abs for a variance,\n"
      "maps each value to one that the operand admits. Raises ValueError for another name.");
  module.def(
      "indices",
      [](const Sizes& sizes, const Size& below) {
        return FormulaOperand{input_of(sizes).indices_below(size_of(below))};
      },
      "sizes"_a, "below"_a, "int64 indices from 0 to the size `below` less 1.");
  module.def(
      "mask", [](const Sizes& sizes) { return FormulaOperand{input_of(sizes).booleans()}; },
      "sizes"_a, "An operand of booleans.");
  module.def(
      "output", &output, "name"_a, nb::kw_only(), "wide"_a = false, "matters"_a = nb::none(),
      "An output. A wide one is float32 at least, as the logsumexp of an attention.\n"
      "`matters(*operands)` gets NumPy arrays of float64, and returns booleans of the output's\n"
      "shape: a kernel may leave elements where they are False as they were.");
}

}  // namespace halfgrad::python
