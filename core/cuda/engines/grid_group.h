#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/engines/launch.h>

namespace halfgrad::detail {

/// Returns how many blocks of `kernel` the GPU can run at the same time.
template <class... Parameters>
std::int64_t resident_blocks(const Launch& launch, void (*kernel)(Parameters...), int threads) {
  int device = 0, multiprocessors = 0, each = 0;
  launch.check(cudaGetDevice(&device), "cudaGetDevice");
  launch.check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
               "cudaDeviceGetAttribute");
  launch.check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::int64_t{multiprocessors} * each;
}

/// Returns how many blocks share each row: 1, unless rows are so few and long that most of a GPU
/// would idle. Depends on the shape alone.
inline std::int64_t blocks_sharing(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kFew = 16, kPerBlock = 4096, kLong = 16 * kPerBlock, kMost = 32;
  return rows <= kFew && columns >= kLong ? std::min(kMost, columns / kPerBlock) : 1;
}

/// All threads of a grid launched by launch_cooperative, with the members of Group.
class GridGroup {
 public:
  /// `parts` has one element for each block.
  __device__ explicit GridGroup(double* parts) : block_(true), parts_(parts) {}

  __device__ int rank() const { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
  __device__ int size() const { return static_cast<int>(gridDim.x * blockDim.x); }
  __device__ void sync() const { cooperative_groups::this_grid().sync(); }

  /// Group::combine over the whole grid, in a fixed order; T is float or double.
  template <class T, class Combine>
  __device__ T combine(T value, const Combine& combine) const {
    value = block_.combine(value, combine);
    if (threadIdx.x == 0) parts_[blockIdx.x] = value;
    sync();
    T total = static_cast<T>(parts_[0]);
    for (unsigned block = 1; block < gridDim.x; ++block) {
      total = combine(total, static_cast<T>(parts_[block]));
    }
    sync();  // before the next call writes
    return total;
  }

 private:
  Group block_;
  double* parts_;
};

/// Launches a kernel whose blocks wait for each other: all of them run at the same time.
template <class... Parameters, class... Arguments>
void launch_cooperative(const Launch& launch, void (*kernel)(Parameters...), unsigned blocks,
                        unsigned threads, Arguments&&... arguments) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = launch.stream();
  config.attrs = &cooperative;
  config.numAttrs = 1;
  launch.check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...),
               "cudaLaunchKernelEx");
}

}  // namespace halfgrad::detail
