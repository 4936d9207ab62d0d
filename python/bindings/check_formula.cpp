#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/array.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/check.h>
#include <halfgrad/python/bindings/formula_operands.h>
#include <halfgrad/testing/kernel_formula.h>

/// Formulas of the user in Python, for halfgrad.check(reference=...) and halfgrad.reference.
namespace halfgrad::python {
namespace {

using testing::BoundedArray;
using testing::BoundedArrays;
using testing::KernelFormula;
using testing::KernelOp;

BoundedArray result_of(nb::handle result) {
  if (nb::isinstance<BoundedArray>(result)) return nb::cast<BoundedArray>(result);
  const std::string text = "reference: expected an Array or a tuple of Arrays as result, got " +
                           nb::cast<std::string>(result.type().attr("__name__"));
  throw nb::type_error(text.c_str());
}

BoundedArrays results_of(nb::handle results) {
  if (!nb::isinstance<nb::tuple>(results) && !nb::isinstance<nb::list>(results)) {
    return result_of(results);
  }
  std::vector<BoundedArray> all;
  for (nb::handle result : nb::borrow<nb::object>(results)) all.push_back(result_of(result));
  return all;
}

/// The function of Python. Its exceptions end the check and reach the caller as they are.
auto reference_calling(const nb::callable& function) {
  return [object = PythonObject(function)](const std::vector<BoundedArray>& operands) {
    const PythonLock lock;
    nb::list arguments;
    for (const BoundedArray& operand : operands) arguments.append(operand);
    try {
      return results_of(object.get()(*arguments));
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) throw testing::CheckInterrupted();
      throw;
    }
  };
}

/// The formula of the gradient by one input, or by several: an int or a list of them.
KernelFormula gradient_of(const KernelFormula& formula, nb::handle given) {
  std::size_t input = 0;
  std::vector<std::size_t> inputs;
  if (nb::try_cast(given, input)) return testing::gradient(formula, input);
  if (nb::try_cast(given, inputs) && !inputs.empty()) return testing::gradients(formula, inputs);
  detail::fail("gradient", "expected the number of an input, or several, got {}", shown(given));
}

/// Refuses an op whose output cannot lie where its first input is.
void expect_first_input_fits(const KernelOp& op) {
  const testing::Dims dims{5, 3, 7};
  const Shape input = op.operands(dims)[0].sizes, output = op.output(dims);
  if (input == output && op.outputs.empty()) return;
  detail::fail(op.name, "expected one output of the first input's shape in place, got {} for {}",
               output, input);
}

/// A formula and the op that it defines.
struct PythonFormula {
  explicit PythonFormula(KernelFormula given)
      : stated(std::move(given)), op(testing::kernel_op(stated)) {}

  KernelFormula stated;
  KernelOp op;
};

PythonFormula formula(const nb::callable& reference, const nb::list& inputs,
                      const std::string& name, const nb::list& outputs, const nb::object& gradient,
                      const std::array<std::int64_t, 3>& least, bool exact, bool in_place) {
  std::vector<testing::FormulaInput> specs;
  std::vector<Admitted> admitted;
  for (nb::handle input : inputs) {
    const FormulaOperand operand = operand_of(input);
    specs.push_back(operand.input);
    admitted.push_back(operand.admitted);
  }
  KernelFormula stated{.name = name,
                       .inputs = specs,
                       .reference = reference_calling(reference),
                       .least = {least[0], least[1], least[2]}};
  if (std::any_of(admitted.begin(), admitted.end(), [](const Admitted& f) { return bool(f); })) {
    stated.admitted = [admitted](std::size_t operand, double x) {
      return admitted[operand] ? admitted[operand](x) : x;
    };
  }
  if (!gradient.is_none()) stated = gradient_of(stated, gradient);
  stated.exact = exact;
  stated.may_work_in_place = in_place;
  if (outputs.size() > 0) stated.outputs.clear();
  for (nb::handle output : outputs) stated.outputs.push_back(output_of(output));
  PythonFormula result(std::move(stated));
  if (in_place) expect_first_input_fits(result.op);
  return result;
}

/// An array of these values without errors, for constants such as a mask.
BoundedArray exact(const BoundedArray& like, const Tensor& tensor) {
  Elements elements;
  for (const double x : tensor.to_vector<double>()) elements.push_back({x});
  return BoundedArray(like.arithmetic(), tensor.sizes(), std::move(elements));
}

/// Ctrl-C in a reference ends a running check; outside of one it is Python's exception.
void raise_interrupt(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const testing::CheckInterrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

KernelOp op_of(nb::handle op) {
  if (nb::isinstance<PythonFormula>(op)) return nb::cast<const PythonFormula&>(op).op;
  std::string name;
  if (!nb::try_cast(op, name)) {
    detail::fail("check", "expected the name of an op or a formula, got {}", shown(op));
  }
  return testing::kernel_op(name);
}

void bind_formula(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_reference", "The parts of halfgrad.reference.");
  bind_bounded_arrays(module);
  bind_formula_operands(module);
  nb::register_exception_translator(&raise_interrupt);
  nb::class_<PythonFormula>(module, "Formula", "An op that a formula defines.")
      .def_prop_ro("name", [](const PythonFormula& self) { return self.op.name; })
      .def("__repr__", [](const PythonFormula& self) {
        return "<halfgrad formula " + self.op.name + ": " + self.op.signature + ">";
      });
  module.def(
      "gradient",
      [](const PythonFormula& formula, nb::handle input) {
        return PythonFormula(gradient_of(formula.stated, input));
      },
      "formula"_a, "input"_a,
      "The formula of the backward kernel: it takes the operands of `formula`, then the gradient "
      "of\n"
      "each result, and returns the gradient by operand `input`, counted from 0. For a list of\n"
      "several operands it has an output for each. Raises ValueError for an operand that is "
      "missing.");
  module.def(
      "exact", &exact, "like"_a, "values"_a,
      "Constants that a kernel need not round, such as a mask: an Array with the values of a\n"
      "halfgrad.Tensor, for a formula with the operand `like`.");
  module.def("_formula", &formula, "reference"_a, "inputs"_a, "name"_a, "outputs"_a,
             "gradient"_a.none(), "least"_a, "exact"_a, "in_place"_a);
}

}  // namespace halfgrad::python
