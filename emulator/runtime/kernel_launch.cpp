#include <utility>
#include <vector>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/modules.h>
#include <halfgrad/emulator/runtime/per_thread_stream.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

/// Launch configuration that <<<grid, block, shared, stream>>> pushes and the kernel's stub pops.
struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<CallConfiguration> pushed_configurations;
/// Whether the next launch of this thread comes from <<<>>>, whose stub drops the result.
thread_local bool result_is_dropped = false;

/// The attributes of a launch that change what it does here. The others are hints.
struct Attributes {
  bool cooperative = false;
  dim3 cluster{0, 0, 0};
  bool programmatic = false;  ///< Work::programmatic
};

cudaError_t launch(const char* function, const void* kernel, dim3 grid, dim3 block,
                   void** arguments, std::size_t shared, cudaStream_t stream,
                   const Attributes& attributes = {}) {
  const bool dropped = std::exchange(result_is_dropped, false);
  const cudaError_t error = api_call(function, [&] {
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kernel);
    parameters.gridDim = grid;
    parameters.blockDim = block;
    parameters.sharedMemBytes = static_cast<unsigned>(shared);
    parameters.kernelParams = arguments;
    Work work;
    if (const cudaError_t refused =
            kernel_work_in_clusters(parameters, attributes.cooperative, attributes.cluster, work)) {
      return refused;
    }
    work.programmatic = attributes.programmatic;
    return enqueue(stream, std::move(work));
  });
  if (error != cudaSuccess && dropped) {
    const KernelFunction* named = module_table().find_kernel(kernel);
    note_unseen_launch((named == nullptr ? "an unknown kernel" : named->readable) +
                       " was not launched: " + cudaGetErrorName(error) + ", at " + call_sites());
  }
  return error;
}

Attributes attributes_of(const cudaLaunchConfig_t& config) {
  Attributes attributes;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& value = config.attrs[i].val;
    switch (config.attrs[i].id) {
      case cudaLaunchAttributeCooperative:
        attributes.cooperative = value.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        attributes.cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        attributes.programmatic = value.programmaticStreamSerializationAllowed != 0;
        break;
      default:
        break;
    }
  }
  return attributes;
}

}  // namespace

// nvcc makes host code that calls these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
HALFGRAD_EMULATOR_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                           std::size_t shared, void* stream) {
  pushed_configurations.push_back({grid, block, shared, static_cast<cudaStream_t>(stream)});
  return 0;
}

HALFGRAD_EMULATOR_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                             std::size_t* shared, void* stream) {
  if (pushed_configurations.empty()) return set_error(cudaErrorMissingConfiguration);
  const CallConfiguration top = pushed_configurations.back();
  pushed_configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  result_is_dropped = true;
  return cudaSuccess;
}

HALFGRAD_EMULATOR_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                     void** arguments, std::size_t shared,
                                                     cudaStream_t stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream);
}

HALFGRAD_EMULATOR_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid,
                                                          dim3 block, void** arguments,
                                                          std::size_t shared, cudaStream_t stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, or_per_thread(stream));
}
// NOLINTEND(bugprone-reserved-identifier)

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                                   void** arguments, std::size_t shared,
                                                   cudaStream_t stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream);
}

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block,
                                                        void** arguments, std::size_t shared,
                                                        cudaStream_t stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, or_per_thread(stream));
}

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid,
                                                              dim3 block, void** arguments,
                                                              std::size_t shared,
                                                              cudaStream_t stream) {
  return launch("cudaLaunchCooperativeKernel", kernel, grid, block, arguments, shared, stream,
                {.cooperative = true});
}

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* kernel, dim3 grid,
                                                                   dim3 block, void** arguments,
                                                                   std::size_t shared,
                                                                   cudaStream_t stream) {
  return launch("cudaLaunchCooperativeKernel", kernel, grid, block, arguments, shared,
                or_per_thread(stream), {.cooperative = true});
}

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                                      const void* kernel, void** arguments) {
  if (config == nullptr) return set_error(cudaErrorInvalidValue);
  return launch("cudaLaunchKernelExC", kernel, config->gridDim, config->blockDim, arguments,
                config->dynamicSmemBytes, config->stream, attributes_of(*config));
}

HALFGRAD_EMULATOR_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config,
                                                           const void* kernel, void** arguments) {
  if (config == nullptr) return set_error(cudaErrorInvalidValue);
  cudaLaunchConfig_t own = *config;
  own.stream = or_per_thread(own.stream);
  return cudaLaunchKernelExC(&own, kernel, arguments);
}

}  // namespace halfgrad::emulator
