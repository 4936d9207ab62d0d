#include <halfgrad/core/cuda/engines/shared_memory.h>

#include <map>
#include <mutex>
#include <utility>

namespace halfgrad::detail {

void allow_shared_memory(const Launch& launch, const void* kernel, std::size_t bytes) {
  static std::mutex mutex;
  static auto* const allowed = new std::map<std::pair<const void*, int>, std::size_t>;
  int device = 0;
  launch.check(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  std::size_t& most = (*allowed)[{kernel, device}];
  if (bytes <= most) return;
  launch.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)),
               "cudaFuncSetAttribute");
  most = bytes;
}

}  // namespace halfgrad::detail
