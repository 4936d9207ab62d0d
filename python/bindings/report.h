#pragma once

#include <nanobind/nanobind.h>

namespace halfgrad::python {

void bind_report(nanobind::module_& module);

}  // namespace halfgrad::python
