#pragma once

#include <string>

#include <halfgrad/testing/kernel_case.h>

namespace halfgrad::testing {

/// The kernel `symbol`, of type halfgrad_kernel (kernel_abi.h), of a shared library, which stays
/// loaded: of a file, or where there is none, by a name that the loader looks for. Throws
/// std::runtime_error, with the loader's reason, if there is none. The kernel throws
/// std::runtime_error where the function returns anything but 0.
Kernel load_kernel(const std::string& library, const std::string& symbol);

}  // namespace halfgrad::testing
