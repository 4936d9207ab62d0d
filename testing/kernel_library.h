#pragma once

#include <string>

#include <halfgrad/testing/kernel_case.h>

namespace halfgrad::testing {

/// Loads the function `symbol`, of type halfgrad_kernel (kernel_abi.h), from a shared library: a
/// file, or else a name that the loader searches for. The library stays loaded. Throws
/// std::runtime_error, with the loader's reason, if either is missing. The kernel throws
/// std::runtime_error if the function returns a code other than 0.
Kernel load_kernel(const std::string& library, const std::string& symbol);

/// Loads a CUDA kernel for arrays in host memory; halfgrad itself may be built without CUDA. A call
/// copies each array to device memory of exactly its extent, so that an emulator or a sanitizer
/// sees every access beyond it, launches on the default stream, waits for that stream, and copies
/// all arrays back. The CUDA runtime is the one that the library links: nvcc -cudart shared. Throws
/// std::runtime_error as load_kernel() does, and if the library links no shared runtime; the kernel
/// throws it for CUDA's errors, too.
Kernel load_cuda_kernel(const std::string& library, const std::string& symbol);

}  // namespace halfgrad::testing
