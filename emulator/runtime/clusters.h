#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/modules.h>

namespace halfgrad::emulator {

/// Finds the blocks of a cluster: what the launch's attribute says (0: nothing), or the kernel's
/// __cluster_dims__. Returns an error and says why if the launch cannot have them.
cudaError_t choose_cluster(const KernelFunction& function, const Kernel& kernel, int device,
                           dim3 grid, dim3 wanted, dim3& blocks, std::string& why);

}  // namespace halfgrad::emulator
