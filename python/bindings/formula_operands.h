#pragma once

#include <functional>
#include <string>

#include <nanobind/nanobind.h>

#include <halfgrad/testing/kernel_formula.h>

/// Inputs and outputs of formulas in Python: hr.input(), hr.indices(), hr.mask() and hr.output().
namespace halfgrad::python {

/// Maps a hostile value to one that the operand admits; empty if it admits all.
using Admitted = std::function<double(double)>;

struct FormulaOperand {
  testing::FormulaInput input;
  Admitted admitted = {};
};

/// An input, or the sizes of one. Throws std::invalid_argument for another object.
FormulaOperand operand_of(nanobind::handle given);
/// An output, or the name of one.
testing::OutputSpec output_of(nanobind::handle given);

/// The repr() of an object, for messages.
std::string shown(nanobind::handle object);

void bind_formula_operands(nanobind::module_& module);

}  // namespace halfgrad::python
