// Stream-ordered allocation: cudaMallocAsync, cudaFreeAsync and memory pools. Memory exists from
// the call on, and is freed when the stream reaches cudaFreeAsync.
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/memory.h>
#include <halfgrad/emulator/runtime/memory_pools.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

struct Pool {
  int device = 0;
  bool is_default = false;
  std::map<int, std::uint64_t> attributes;
  std::set<int> peers;  ///< other devices whose kernels may access its memory

  bool is_accessible(int by) const { return by == device || peers.count(by) != 0; }
};

struct Pools {
  std::mutex mutex;
  std::map<cudaMemPool_t, Pool> live;
  std::map<int, cudaMemPool_t> defaults, current;
  std::uintptr_t next = 0x5e8000000000;

  cudaMemPool_t add(int device, bool is_default) {
    const auto handle = reinterpret_cast<cudaMemPool_t>(next);
    next += 64;
    Pool pool{device, is_default, {}, {}};
    pool.attributes = {{cudaMemPoolReuseFollowEventDependencies, 1},
                       {cudaMemPoolReuseAllowOpportunistic, 1},
                       {cudaMemPoolReuseAllowInternalDependencies, 1}};
    live.emplace(handle, std::move(pool));
    return handle;
  }
  cudaMemPool_t default_of(int device) {
    auto& handle = defaults[device];
    if (handle == nullptr) handle = add(device, true);
    return handle;
  }
  cudaMemPool_t current_of(int device) {
    const auto found = current.find(device);
    return found == current.end() ? default_of(device) : found->second;
  }
};
Pools& pools() {
  static Pools* const one = new Pools;
  return *one;
}

bool is_flag(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

/// Orders the begin or the end of an allocation with the operations that access it.
void check_lifetime_of(const void* pointer, OperationId operation) {
  Process& here = process();
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* const found = here.memory.find(address, 1);
  if (found == nullptr || !here.settings.check_race) return;
  check_lifetime(here.findings, here.memory, operation_order(), operation, address, found->bytes);
}

cudaError_t allocate_async(const char* function, const void* caller, void** pointer,
                           std::size_t bytes, cudaStream_t stream, cudaMemPool_t pool = nullptr) {
  return api_call(function, [&] {
    Place place;
    {
      const std::lock_guard lock(pools().mutex);
      if (pool == nullptr) pool = pools().current_of(current_device());
      const auto found = pools().live.find(pool);
      if (found == pools().live.end()) return cudaErrorInvalidValue;
      place = {found->second.device, reinterpret_cast<PoolId>(pool)};
    }
    // Memory of a captured graph lives as long as the process, so that every launch finds it.
    const bool of_graph = is_capturing(stream);
    const std::string owner = of_graph ? kGraphMemory : "";
    const cudaError_t error = allocate_memory(MemoryKind::device, pointer, bytes,
                                              owner + function + " at " + call_site(caller), place);
    if (error != cudaSuccess || of_graph || *pointer == nullptr) return error;
    Work work;
    work.kind = WorkKind::allocation;
    work.name = function;
    work.device = current_device();
    work.run = [made = *pointer](OperationId operation) { check_lifetime_of(made, operation); };
    return enqueue(stream, std::move(work));
  });
}

cudaError_t free_async(void* pointer, cudaStream_t stream) {
  return api_call("cudaFreeAsync", [&] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const Allocation* found = process().memory.find(reinterpret_cast<std::uint64_t>(pointer), 1);
    Work work;
    work.kind = WorkKind::allocation;
    work.name = "cudaFreeAsync";
    work.device = current_device();
    if (found == nullptr || found->begin != reinterpret_cast<std::uint64_t>(pointer)) {
      return free_memory("cudaFreeAsync", pointer, false);
    }
    const bool of_graph = found->made_by.rfind(kGraphMemory, 0) == 0;
    const int device = work.device;
    work.run = [=](OperationId operation) {
      if (of_graph || device_is_lost(device)) return;
      check_lifetime_of(pointer, operation);
      free_memory("cudaFreeAsync", pointer, false);
    };
    return enqueue(stream, std::move(work));
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes,
                                                  cudaStream_t stream) {
  return allocate_async("cudaMallocAsync", HALFGRAD_EMULATOR_CALLER, pointer, bytes, stream);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMallocAsync_ptsz(void** pointer, std::size_t bytes,
                                                       cudaStream_t stream) {
  return allocate_async("cudaMallocAsync", HALFGRAD_EMULATOR_CALLER, pointer, bytes,
                        stream == nullptr ? cudaStreamPerThread : stream);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes,
                                                          cudaMemPool_t pool, cudaStream_t stream) {
  if (pool == nullptr) return set_error(cudaErrorInvalidValue);
  return allocate_async("cudaMallocFromPoolAsync", HALFGRAD_EMULATOR_CALLER, pointer, bytes, stream,
                        pool);
}
HALFGRAD_EMULATOR_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return free_async(pointer, stream);
}
HALFGRAD_EMULATOR_API cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return free_async(pointer, stream == nullptr ? cudaStreamPerThread : stream);
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return api_call("cudaDeviceGetDefaultMemPool", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const std::lock_guard lock(pools().mutex);
    *pool = pools().default_of(device);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return api_call("cudaDeviceGetMemPool", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const std::lock_guard lock(pools().mutex);
    *pool = pools().current_of(device);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api_call("cudaDeviceSetMemPool", [&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const std::lock_guard lock(pools().mutex);
    const auto found = pools().live.find(pool);
    if (found == pools().live.end() || found->second.device != device) return cudaErrorInvalidValue;
    pools().current[device] = pool;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool,
                                                    const cudaMemPoolProps* properties) {
  return api_call("cudaMemPoolCreate", [&] {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
    if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
    if (!is_device(properties->location.id)) return cudaErrorInvalidDevice;
    const std::lock_guard lock(pools().mutex);
    *pool = pools().add(properties->location.id, false);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api_call("cudaMemPoolDestroy", [&] {
    const std::lock_guard lock(pools().mutex);
    const auto found = pools().live.find(pool);
    if (found == pools().live.end() || found->second.is_default) return cudaErrorInvalidValue;
    std::erase_if(pools().current, [&](const auto& entry) { return entry.second == pool; });
    pools().live.erase(found);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return api_call("cudaMemPoolTrimTo", [&] {
    const std::lock_guard lock(pools().mutex);
    return pools().live.count(pool) != 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool,
                                                          cudaMemPoolAttr attribute, void* value) {
  return api_call("cudaMemPoolSetAttribute", [&] {
    const std::lock_guard lock(pools().mutex);
    const auto found = pools().live.find(pool);
    if (found == pools().live.end() || value == nullptr) return cudaErrorInvalidValue;
    found->second.attributes[attribute] =
        is_flag(attribute) ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                           : *static_cast<std::uint64_t*>(value);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool,
                                                          cudaMemPoolAttr attribute, void* value) {
  return api_call("cudaMemPoolGetAttribute", [&] {
    const std::lock_guard lock(pools().mutex);
    const auto found = pools().live.find(pool);
    if (found == pools().live.end() || value == nullptr) return cudaErrorInvalidValue;
    std::uint64_t answer = found->second.attributes[attribute];
    const bool is_current = attribute == cudaMemPoolAttrReservedMemCurrent ||
                            attribute == cudaMemPoolAttrUsedMemCurrent;
    if (is_current) answer = process().memory.bytes_in_use(found->second.device);
    if (is_flag(attribute)) {
      *static_cast<int*>(value) = static_cast<int>(answer);
    } else {
      *static_cast<std::uint64_t*>(value) = answer;
    }
    return cudaSuccess;
  });
}

bool pool_is_accessible(PoolId pool, int device) {
  const std::lock_guard lock(pools().mutex);
  const auto found = pools().live.find(reinterpret_cast<cudaMemPool_t>(pool));
  return found == pools().live.end() || found->second.is_accessible(device);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                                       const cudaMemAccessDesc* rights,
                                                       std::size_t count) {
  return api_call("cudaMemPoolSetAccess", [&] {
    const std::lock_guard lock(pools().mutex);
    const auto found = pools().live.find(pool);
    if (found == pools().live.end() || (rights == nullptr && count != 0))
      return cudaErrorInvalidValue;
    for (const cudaMemAccessDesc& right : std::span(rights, count)) {
      const int device = right.location.id;
      if (right.location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (!is_device(device)) return cudaErrorInvalidDevice;
      if (right.flags == cudaMemAccessFlagsProtNone) {
        if (device == found->second.device) return cudaErrorInvalidDevice;
        found->second.peers.erase(device);
      } else {
        found->second.peers.insert(device);
      }
    }
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags,
                                                       cudaMemPool_t pool,
                                                       cudaMemLocation* location) {
  if (flags == nullptr || location == nullptr) return set_error(cudaErrorInvalidValue);
  const bool may = pool_is_accessible(reinterpret_cast<PoolId>(pool), location->id);
  *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaMemPoolTrimTo(pool, 0);
}

}  // namespace halfgrad::emulator
