#pragma once

#include <string>

#include <halfgrad/testing/kernel_case.h>

namespace halfgrad::testing {

/// Loads the function `symbol`, of type halfgrad_kernel (kernel_abi.h), from a shared library: a
/// file, or else a name that the loader searches for. The library stays loaded. Throws
/// std::runtime_error, with the loader's reason, if either is missing. The kernel throws
/// std::runtime_error if the function returns a code other than 0.
Kernel load_kernel(const std::string& library, const std::string& symbol);

}  // namespace halfgrad::testing
