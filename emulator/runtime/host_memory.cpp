// Pinned host memory: cudaHostAlloc, cudaHostRegister and queries about it.
#include <map>
#include <mutex>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/memory.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

std::mutex flags_mutex;
std::map<std::uint64_t, unsigned> registered;  ///< flags of cudaHostRegister, by address
std::map<std::uint64_t, unsigned> allocated;   ///< flags of cudaHostAlloc, by address

cudaError_t allocate_host(const char* function, const void* caller, void** pointer,
                          std::size_t bytes, unsigned flags) {
  return api_call(function, [&] {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~known) != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_in_capture(function)) return error;
    if (const cudaError_t error =
            allocate_memory(MemoryKind::pinned, pointer, bytes,
                            std::string(function) + " at " + call_site(caller))) {
      return error;
    }
    const std::lock_guard lock(flags_mutex);
    allocated[reinterpret_cast<std::uint64_t>(*pointer)] = flags;
    return cudaSuccess;
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return allocate_host("cudaHostAlloc", HALFGRAD_EMULATOR_CALLER, pointer, bytes, flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate_host("cudaMallocHost", HALFGRAD_EMULATOR_CALLER, pointer, bytes,
                       cudaHostAllocDefault);
}

HALFGRAD_EMULATOR_API cudaError_t cudaFreeHost(void* pointer) {
  return api_call("cudaFreeHost", [&] {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = refuse_in_capture("cudaFreeHost")) return error;
    if (const cudaError_t error = wait_for_device(current_device())) return error;
    {
      const std::lock_guard lock(flags_mutex);
      if (registered.count(reinterpret_cast<std::uint64_t>(pointer)) != 0)
        return cudaErrorInvalidValue;
    }
    return free_memory("cudaFreeHost", pointer, true);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes,
                                                   unsigned flags) {
  const void* caller = HALFGRAD_EMULATOR_CALLER;
  return api_call("cudaHostRegister", [&] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    Allocations& memory = process().memory;
    if (memory.find(address, 1) != nullptr || memory.find(address + bytes - 1, 1) != nullptr) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    memory.add_host(pointer, bytes, "cudaHostRegister at " + call_site(caller));
    const std::lock_guard lock(flags_mutex);
    registered[address] = flags;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaHostUnregister(void* pointer) {
  return api_call("cudaHostUnregister", [&] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    {
      const std::lock_guard lock(flags_mutex);
      if (registered.erase(address) == 0) return cudaErrorHostMemoryNotRegistered;
    }
    const cudaError_t error = wait_for_device(current_device());
    process().memory.free(address);
    return error;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaHostGetDevicePointer(void** device, void* host,
                                                           unsigned flags) {
  return api_call("cudaHostGetDevicePointer", [&] {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Allocation* found = process().memory.find(reinterpret_cast<std::uint64_t>(host), 1);
    if (found == nullptr || found->kind != MemoryKind::pinned) return cudaErrorInvalidValue;
    *device = host;  // unified addressing
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return api_call("cudaHostGetFlags", [&] {
    const std::lock_guard lock(flags_mutex);
    const auto found = allocated.find(reinterpret_cast<std::uint64_t>(host));
    if (flags == nullptr || found == allocated.end()) return cudaErrorInvalidValue;
    *flags = found->second | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
