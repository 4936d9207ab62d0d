#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include <halfgrad/testing/kernel_check.h>

namespace halfgrad::python {

/// The options of halfgrad.check() as those of check_kernel(): dtypes, layouts and kinds of inputs
/// by their names, dims as triples. Raises ValueError for a name that is not known, TypeError for
/// an unknown option.
testing::KernelCheckOptions check_options(const nanobind::dict& given);

/// The parameters of an op in the JSON report.
testing::OpParameters op_parameters(const nanobind::dict& given);

/// The op of that name, or a formula of Python. Throws std::invalid_argument for another object.
testing::KernelOp op_of(nanobind::handle op);

/// Throws the text of a Python exception of a kernel; its traceback is made by `halfgrad.check`.
[[noreturn]] void rethrow(nanobind::python_error& error);

/// Adds halfgrad.reference to the module: its arrays, and the formulas that they compute.
void bind_bounded_arrays(nanobind::module_& module);
void bind_formula(nanobind::module_& module);

/// Adds the parts of halfgrad.check_dropout() and check_sampling() to the module.
void bind_check_distribution(nanobind::module_& module);
/// Adds the parts of halfgrad.check() to the module.
void bind_check(nanobind::module_& module);

}  // namespace halfgrad::python
