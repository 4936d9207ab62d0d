#pragma once

#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/python/bindings/bindings.h>

/// Reports, counts and states of GradScaler and AsyncGradScaler as lists and dictionaries.
namespace halfgrad::python {

nb::list list_of(const std::vector<amp::StepReport>& reports);
/// The reports of list_of().
std::vector<amp::StepReport> reports_of(const nb::list& reports);
nb::dict dict_of(const amp::GradScalerCounts& counts);
/// PyTorch's keys and types: PyTorch takes counts as ints only.
nb::dict dict_of(const amp::GradScalerState& state);
amp::GradScalerState scaler_state_of(const nb::dict& dict);

}  // namespace halfgrad::python
