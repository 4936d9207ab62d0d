#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/clusters.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/kernel_limits.h>
#include <halfgrad/emulator/runtime/launches.h>
#include <halfgrad/emulator/runtime/modules.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

using Parameters = std::vector<std::byte>;

/// Arguments of a launch in the layout of the kernel's parameters.
Parameters pack(const Kernel& kernel, void* const* arguments) {
  Parameters packed(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.main->parameters.size(); ++i) {
    const Parameter& parameter = kernel.main->parameters[i];
    std::memcpy(packed.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return packed;
}

/// Arguments of a launch whose caller gives one packed buffer (CU_LAUNCH_PARAM_BUFFER_POINTER).
Parameters pack_buffer(const Kernel& kernel, void* const* extra) {
  const auto* buffer_tag = reinterpret_cast<void*>(1);
  const auto* size_tag = reinterpret_cast<void*>(2);
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != nullptr; extra += 2) {
    if (*extra == buffer_tag) buffer = extra[1];
    if (*extra == size_tag) bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  if (buffer == nullptr || bytes < kernel.parameter_bytes) throw CallFailed{cudaErrorInvalidValue};
  Parameters packed(kernel.parameter_bytes);
  std::memcpy(packed.data(), buffer, packed.size());
  return packed;
}

/// Keeps the parameters for later queries of the launch: pointers lead to the packed copies.
std::shared_ptr<const WorkParameters> kept_parameters(const Kernel& kernel,
                                                      cudaKernelNodeParams launch, bool cooperative,
                                                      dim3 cluster, const Parameters& packed) {
  auto kept = std::make_shared<WorkParameters>();
  kept->arguments = packed;
  for (const Parameter& parameter : kernel.main->parameters) {
    kept->argument_pointers.push_back(kept->arguments.data() + parameter.offset);
  }
  launch.kernelParams = kept->argument_pointers.data();
  launch.extra = nullptr;
  kept->values = launch;
  kept->cooperative = cooperative;
  kept->cluster = cluster;
  return kept;
}

Dim3 sizes(dim3 size) { return {size.x, size.y, size.z}; }

std::string launch_text(const cudaKernelNodeParams& launch) {
  const auto sizes_text = [](dim3 size) {
    return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," +
           std::to_string(size.z) + ")";
  };
  return "<<<" + sizes_text(launch.gridDim) + "," + sizes_text(launch.blockDim) + "," +
         std::to_string(launch.sharedMemBytes) + ">>>";
}

void run_kernel(const KernelFunction& function, const cudaKernelNodeParams& launch,
                bool cooperative, dim3 cluster, const Parameters& parameters, int device,
                OperationId operation) {
  if (device_is_lost(device)) return;
  try {
    const Machine here = machine(device);
    const LaunchRequest request{.module = function.image->on(device),
                                .kernel = function.kernel(device),
                                .grid = sizes(launch.gridDim),
                                .block = sizes(launch.blockDim),
                                .dynamic_shared_bytes = launch.sharedMemBytes,
                                .parameters = parameters.data(),
                                .cooperative = cooperative,
                                .cluster = sizes(cluster),
                                .operation = operation,
                                .order = &operation_order()};
    std::exception_ptr failure;
    launch_log().add(request, run(here, request, &failure));
    if (failure != nullptr) std::rethrow_exception(failure);
  } catch (const KernelAborted& aborted) {
    set_sticky_error(error_after(aborted.kind), device);
  } catch (...) {
    set_sticky_error(error_of_current_exception(function.readable.c_str()), device);
  }
}

}  // namespace

cudaError_t kernel_work(const cudaKernelNodeParams& parameters, bool cooperative, Work& work) {
  return kernel_work_in_clusters(parameters, cooperative, dim3(0, 0, 0), work);
}

cudaError_t kernel_work_in_clusters(const cudaKernelNodeParams& parameters, bool cooperative,
                                    dim3 cluster, Work& work) {
  const KernelFunction* function = module_table().find_kernel(parameters.func);
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  const int device = current_device();
  const Kernel& kernel = function->kernel(device);
  std::string why;
  dim3 blocks(1, 1, 1);
  cudaError_t error =
      check_limits(*function, kernel, device, parameters.gridDim, parameters.blockDim,
                   parameters.sharedMemBytes, cooperative, why);
  if (error == cudaSuccess) {
    error = choose_cluster(*function, kernel, device, parameters.gridDim, cluster, blocks, why);
  }
  if (error != cudaSuccess) {
    report_call(FindingKind::invalid_call, ("launch of " + function->readable).c_str(), why,
                Severity::note);
    return error;
  }
  const bool has_parameters = !kernel.main->parameters.empty();
  if (has_parameters && parameters.kernelParams == nullptr && parameters.extra == nullptr) {
    return cudaErrorInvalidValue;
  }
  auto packed = std::make_shared<const Parameters>(!has_parameters ? Parameters{}
                                                   : parameters.kernelParams != nullptr
                                                       ? pack(kernel, parameters.kernelParams)
                                                       : pack_buffer(kernel, parameters.extra));
  work.kind = WorkKind::kernel;
  work.name = "kernel " + function->readable;
  work.detail = launch_text(parameters);
  work.device = device;
  work.parameters = kept_parameters(kernel, parameters, cooperative, cluster, *packed);
  work.run = [function, parameters, cooperative, blocks, packed, device](OperationId operation) {
    run_kernel(*function, parameters, cooperative, blocks, *packed, device, operation);
  };
  return cudaSuccess;
}

}  // namespace halfgrad::emulator
