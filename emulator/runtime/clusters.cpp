// Thread block clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
#include <halfgrad/emulator/runtime/clusters.h>

#include <algorithm>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/kernel_limits.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kPortableBlocks = 8;  ///< largest cluster on every GPU that has clusters
constexpr unsigned kMostBlocks = 16;     ///< with cudaFuncAttributeNonPortableClusterSizeAllowed

bool equal(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

unsigned most_blocks(const KernelFunction& function, int device) {
  const auto i = static_cast<std::size_t>(device);
  return function.devices[i].large_clusters ? kMostBlocks : kPortableBlocks;
}

/// Calls f(function, kernel, device) for the kernel of a query.
template <class F>
cudaError_t query(const char* name, const void* host, F f) {
  return api_call(name, [&] {
    const KernelFunction* const function = module_table().find_kernel(host);
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const int device = current_device();
    if (gpu_of(device).major < 9) return cudaErrorNotSupported;
    return f(*function, function->kernel(device), device);
  });
}

dim3 cluster_of(const cudaLaunchConfig_t& config, const Kernel& kernel) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& sizes = config.attrs[i].val.clusterDim;
    return dim3(sizes.x, sizes.y, sizes.z);
  }
  const auto& own = kernel.required_cluster;
  return own[0] == 0 ? dim3(1, 1, 1) : dim3(own[0], own[1], own[2]);
}

}  // namespace

cudaError_t choose_cluster(const KernelFunction& function, const Kernel& kernel, int device,
                           dim3 grid, dim3 wanted, dim3& blocks, std::string& why) {
  const auto& own = kernel.required_cluster;
  const dim3 required(own[0], own[1], own[2]);
  if (wanted.x == 0) wanted = required;
  if (wanted.x == 0) return cudaSuccess;
  blocks = wanted;
  if (required.x != 0 && !equal(required, wanted)) {
    why = "expected clusters of " + text_of(required) + " blocks as in __cluster_dims__, got " +
          text_of(wanted);
    return cudaErrorInvalidClusterSize;
  }
  const unsigned count = wanted.x * wanted.y * wanted.z, most = most_blocks(function, device);
  if (count == 1) return cudaSuccess;
  if (gpu_of(device).major < 9) {
    why = "clusters need a GPU of compute capability 9.0, such as --gpu h100";
    return cudaErrorNotSupported;
  }
  if (count == 0 || count > most) {
    why = "expected a cluster of 1 to " + std::to_string(most) + " blocks, got " + text_of(wanted);
    return cudaErrorInvalidClusterSize;
  }
  if (grid.x % wanted.x != 0 || grid.y % wanted.y != 0 || grid.z % wanted.z != 0) {
    why =
        "expected a grid of whole clusters of " + text_of(wanted) + " blocks, got " + text_of(grid);
    return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

/// Counts blocks that fit at once. A GPU may hold fewer clusters: those of one share a GPC.
HALFGRAD_EMULATOR_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* host,
                                                                 const cudaLaunchConfig_t* config) {
  return query("cudaOccupancyMaxActiveClusters", host,
               [&](const KernelFunction& function, const Kernel& kernel, int device) {
                 if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
                 const dim3 size = cluster_of(*config, kernel);
                 const unsigned count = size.x * size.y * size.z;
                 if (count == 0 || count > most_blocks(function, device)) {
                   return cudaErrorInvalidClusterSize;
                 }
                 const dim3 block = config->blockDim;
                 const unsigned resident = resident_blocks(
                     kernel, device, block.x * block.y * block.z, config->dynamicSmemBytes);
                 *clusters = static_cast<int>(resident * gpu_of(device).multiprocessors / count);
                 return cudaSuccess;
               });
}

HALFGRAD_EMULATOR_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int* size, const void* host, const cudaLaunchConfig_t* config) {
  return query("cudaOccupancyMaxPotentialClusterSize", host,
               [&](const KernelFunction& function, const Kernel& kernel, int device) {
                 if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
                 const dim3 block = config->blockDim;
                 const unsigned resident = resident_blocks(
                     kernel, device, block.x * block.y * block.z, config->dynamicSmemBytes);
                 *size = resident == 0 ? 0 : static_cast<int>(most_blocks(function, device));
                 return cudaSuccess;
               });
}

}  // namespace halfgrad::emulator
