#pragma once

#include <string>

#include <halfgrad/autograd/losses.h>
#include <halfgrad/python/bindings/bindings.h>

namespace halfgrad::python {

/// Throws std::invalid_argument for another name than "none", "mean" and "sum".
Reduction reduction_of(const std::string& name);

}  // namespace halfgrad::python
