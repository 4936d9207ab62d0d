// Hints for managed memory (CUDA Runtime API, "Memory Management"). They move no memory here, but
// cudaMemRangeGetAttribute returns them.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

struct Advice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId, last_prefetch = cudaInvalidDeviceId;
  std::set<int> accessed_by;
};

/// Advice by the first address of its allocation. The whole allocation takes what a part of it is
/// given.
struct AllAdvice {
  std::mutex mutex;
  std::map<std::uint64_t, Advice> of;
};
AllAdvice& all_advice() {
  static auto& one = *new AllAdvice;
  return one;
}

const Allocation* managed_range(const void* pointer, std::size_t bytes) {
  const Allocation* found = process().memory.find(reinterpret_cast<std::uint64_t>(pointer), bytes);
  return found != nullptr && found->kind == MemoryKind::managed ? found : nullptr;
}

/// Calls change(advice) for the advice of the managed memory.
template <class Change>
cudaError_t with_advice(const char* function, const void* pointer, std::size_t bytes,
                        Change change) {
  return api_call(function, [&] {
    const Allocation* const found = managed_range(pointer, bytes);
    if (found == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard lock(all_advice().mutex);
    return change(all_advice().of[found->begin]);
  });
}

cudaError_t advise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int place) {
  return with_advice("cudaMemAdvise", pointer, bytes, [&](Advice& kept) {
    if (place != cudaCpuDeviceId && !is_device(place)) return cudaErrorInvalidDevice;
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        kept.read_mostly = advice == cudaMemAdviseSetReadMostly;
        return cudaSuccess;
      case cudaMemAdviseSetPreferredLocation:
        kept.preferred = place;
        return cudaSuccess;
      case cudaMemAdviseUnsetPreferredLocation:
        kept.preferred = cudaInvalidDeviceId;
        return cudaSuccess;
      case cudaMemAdviseSetAccessedBy:
        kept.accessed_by.insert(place);
        return cudaSuccess;
      case cudaMemAdviseUnsetAccessedBy:
        kept.accessed_by.erase(place);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t prefetch(const void* pointer, std::size_t bytes, int place) {
  return with_advice("cudaMemPrefetchAsync", pointer, bytes, [&](Advice& kept) {
    if (place != cudaCpuDeviceId && !is_device(place)) return cudaErrorInvalidDevice;
    kept.last_prefetch = place;
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
/// The device of a location, as the functions before CUDA 13 named it.
int device_of(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}
#endif

cudaError_t write_attribute(const Advice& advice, cudaMemRangeAttribute attribute, void* data,
                            std::size_t bytes) {
  auto* const values = static_cast<int*>(data);
  if (data == nullptr || bytes < sizeof(int)) return cudaErrorInvalidValue;
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      *values = advice.read_mostly ? 1 : 0;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
      *values = advice.preferred;
      return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
      *values = advice.last_prefetch;
      return cudaSuccess;
    case cudaMemRangeAttributeAccessedBy: {
      std::fill_n(values, bytes / sizeof(int), cudaInvalidDeviceId);
      std::size_t i = 0;
      for (const int device : advice.accessed_by) {
        if (i < bytes / sizeof(int)) values[i++] = device;
      }
      return cudaSuccess;
    }
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace

#if CUDART_VERSION >= 13000
HALFGRAD_EMULATOR_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                                       cudaMemLocation location, unsigned,
                                                       cudaStream_t) {
  return prefetch(pointer, bytes, device_of(location));
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes,
                                                cudaMemoryAdvise advice, cudaMemLocation location) {
  return advise(pointer, bytes, advice, device_of(location));
}
HALFGRAD_EMULATOR_API cudaError_t
cudaMemPrefetchBatchAsync(void** pointers, std::size_t* bytes, std::size_t count,
                          cudaMemLocation* locations, std::size_t* location_indices,
                          std::size_t location_count, unsigned long long flags, cudaStream_t) {
  if (flags != 0 || location_count == 0) return set_error(cudaErrorInvalidValue);
  std::size_t location = 0;
  for (std::size_t i = 0; i < count; ++i) {
    while (location + 1 < location_count && location_indices[location + 1] <= i) ++location;
    const cudaError_t error = prefetch(pointers[i], bytes[i], device_of(locations[location]));
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
#else
HALFGRAD_EMULATOR_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                                       int device, cudaStream_t) {
  return prefetch(pointer, bytes, device);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes,
                                                cudaMemoryAdvise advice, int device) {
  return advise(pointer, bytes, advice, device);
}
#endif

HALFGRAD_EMULATOR_API cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes,
                                                           cudaMemRangeAttribute attribute,
                                                           const void* pointer, std::size_t bytes) {
  return with_advice("cudaMemRangeGetAttribute", pointer, bytes, [&](const Advice& advice) {
    return write_attribute(advice, attribute, data, data_bytes);
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes,
                                                            cudaMemRangeAttribute* attributes,
                                                            std::size_t count, const void* pointer,
                                                            std::size_t bytes) {
  return with_advice("cudaMemRangeGetAttributes", pointer, bytes, [&](const Advice& advice) {
    for (std::size_t i = 0; i < count; ++i) {
      const cudaError_t error = write_attribute(advice, attributes[i], data[i], data_bytes[i]);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
