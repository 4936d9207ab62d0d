#pragma once

#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/modules.h>

namespace halfgrad::emulator {

/// "(64,1,1)".
std::string text_of(dim3 size);

/// Registers of one thread: ptxas alone knows the real number. Estimates what the launch bounds
/// allow, at most a typical 40.
unsigned estimated_registers(const Kernel& kernel, int device);

/// Dynamic shared memory that a launch may ask for: up to 48 KB of static and dynamic memory
/// together, more only after cudaFuncSetAttribute (CUDA programming guide, "Shared Memory").
std::size_t dynamic_shared_limit(const KernelFunction& function, const Kernel& kernel, int device);

/// Blocks of a kernel that fit on one multiprocessor at once.
unsigned resident_blocks(const Kernel& kernel, int device, unsigned threads,
                         std::size_t dynamic_shared);

/// Checks a launch against the limits of the device and the kernel; `why` says what exceeds which.
cudaError_t check_limits(const KernelFunction& function, const Kernel& kernel, int device,
                         dim3 grid, dim3 block, std::size_t dynamic_shared, bool cooperative,
                         std::string& why);

}  // namespace halfgrad::emulator
