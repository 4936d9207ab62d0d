#pragma once

#include <string>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/testing/kernel_abi.h>

/// The parts of load_kernel() and load_cuda_kernel().
namespace halfgrad::testing::detail {

/// A function of a shared library, and the library's handle for dlsym.
struct KernelSymbol {
  void* library = nullptr;
  halfgrad_kernel function = nullptr;
  std::string name;
};

/// Throws std::runtime_error, with the loader's reason, if the library or the function is missing.
KernelSymbol load_symbol(const std::string& library, const std::string& symbol);

/// Describes an array, which must outlive the description.
halfgrad_tensor to_abi(const Array& array);

/// Throws std::runtime_error if a kernel returned a code other than 0.
void expect_success(int code, const std::string& symbol, const std::vector<Array>& inputs,
                    const std::vector<Array>& outputs);

}  // namespace halfgrad::testing::detail
