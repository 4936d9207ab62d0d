#include <string>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/memory.h>
#include <halfgrad/emulator/runtime/texture_limits.h>
#include <halfgrad/emulator/runtime/work.h>
#include <halfgrad/emulator/simt/device_heap.h>

namespace halfgrad::emulator {

/// Alignment of cudaMalloc. The programming guide promises 256 bytes ("Device Memory Accesses");
/// textures of linear memory need textureAlignment.
constexpr std::size_t kDeviceAlignment = TextureLimits::alignment;

cudaError_t allocate_memory(MemoryKind kind, void** result, std::size_t bytes, std::string made_by,
                            Place place) {
  if (result == nullptr) return cudaErrorInvalidValue;
  *result = nullptr;
  if (bytes == 0) return cudaSuccess;
  const Allocation* made = process().memory.allocate(kind, place.device, bytes, kDeviceAlignment,
                                                     std::move(made_by), place.pool);
  if (made == nullptr) return cudaErrorMemoryAllocation;
  *result = reinterpret_cast<void*>(made->begin);
  return cudaSuccess;
}

cudaError_t free_memory(const char* function, void* pointer, bool host) {
  if (pointer == nullptr) return cudaSuccess;
  Allocations& memory = process().memory;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* found = memory.find(address, 1);
  std::string wrong;
  if (found == nullptr) {
    wrong = memory.was_freed(address) ? "it was freed before" : "it is no address of an allocation";
  } else if (found->begin != address) {
    wrong = "it points into the middle of an allocation of " + std::to_string(found->bytes) +
            " bytes by " + found->made_by;
  } else if (host != (found->kind == MemoryKind::pinned)) {
    wrong = "it was allocated by " + found->made_by;
  } else if (found->kind == MemoryKind::device &&
             device_heap(found->device).bytes_at(address) != 0) {
    wrong = "it was allocated by " + found->made_by + ", so only a kernel can free it";
  } else if (found->kind == MemoryKind::variable) {
    wrong = "it is a " + found->made_by;
  }
  if (!wrong.empty()) {
    report_call(FindingKind::invalid_call, function,
                "cannot free " + address_text(address) + ": " + wrong);
    return cudaErrorInvalidValue;
  }
  memory.free(address);
  return cudaSuccess;
}

HALFGRAD_EMULATOR_API cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const void* caller = HALFGRAD_EMULATOR_CALLER;
  return api_call("cudaMalloc", [&] {
    if (const cudaError_t error = refuse_in_capture("cudaMalloc")) return error;
    return allocate_memory(MemoryKind::device, pointer, bytes,
                           "cudaMalloc at " + call_site(caller));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaFree(void* pointer) {
  return api_call("cudaFree", [&] {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = refuse_in_capture("cudaFree")) return error;
    // cudaFree waits for the device, so work that was issued before it may use the memory.
    if (const cudaError_t error = wait_for_device(current_device())) return error;
    return free_memory("cudaFree", pointer, false);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes,
                                                    unsigned flags) {
  const void* caller = HALFGRAD_EMULATOR_CALLER;
  return api_call("cudaMallocManaged", [&] {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
      return cudaErrorInvalidValue;
    return allocate_memory(MemoryKind::managed, pointer, bytes,
                           "cudaMallocManaged at " + call_site(caller));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return api_call("cudaMemGetInfo", [&] {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = process().settings.memory;
    const std::size_t used = process().memory.bytes_in_use(current_device());
    *free = *total - std::min(*total, used);
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
