// Queries about pointers, and functions for hardware that is not emulated.
#include <cuda_profiler_api.h>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/error_state.h>
#include <halfgrad/emulator/runtime/tensor_maps.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
HALFGRAD_EMULATOR_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                           const void* pointer) {
  return api_call("cudaPointerGetAttributes", [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    attributes->device = -2;  // as the runtime says for memory that it does not know
    attributes->hostPointer = const_cast<void*>(pointer);
    attributes->type = cudaMemoryTypeUnregistered;
    const Allocation* found = process().memory.find(reinterpret_cast<std::uint64_t>(pointer), 1);
    if (found == nullptr) return cudaSuccess;
    attributes->device = found->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    switch (found->kind) {
      case MemoryKind::pinned:
        attributes->type = cudaMemoryTypeHost;
        break;
      case MemoryKind::managed:
        attributes->type = cudaMemoryTypeManaged;
        break;
      default:
        attributes->type = cudaMemoryTypeDevice;
        attributes->hostPointer = nullptr;
    }
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
HALFGRAD_EMULATOR_API cudaError_t cudaProfilerStop() { return cudaSuccess; }

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceReset() {
  return api_call_without_device("cudaDeviceReset", [] {
    const int device = current_device();
    if (!is_device(device)) return cudaErrorNoDevice;
    wait_for_device(device);
    check_unseen_errors();
    set_sticky_error(cudaSuccess, device);
    Allocations& memory = process().memory;
    for (const Allocation& allocation : memory.live()) {
      const bool ends =
          allocation.kind == MemoryKind::device || allocation.kind == MemoryKind::managed;
      if (ends && allocation.device == device && allocation.made_by.rfind("variable ", 0) != 0)
        memory.free(allocation.begin);
    }
    return cudaSuccess;
  });
}

// The emulator has no driver below it, but for a few functions.
HALFGRAD_EMULATOR_API cudaError_t
cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                 cudaDriverEntryPointQueryResult* result) {
  return api_call_without_device("cudaGetDriverEntryPointByVersion", [&] {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = driver_function(symbol);
    if (*function != nullptr) {
      if (result != nullptr) *result = cudaDriverEntryPointSuccess;
      return cudaSuccess;
    }
    report_call(FindingKind::unknown_function, "cudaGetDriverEntryPointByVersion",
                std::string("the driver's function ") + symbol + " is not emulated",
                Severity::note);
    if (result != nullptr) *result = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                          unsigned long long flags,
                                                          cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}
HALFGRAD_EMULATOR_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** function, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, version, flags, result);
}
HALFGRAD_EMULATOR_API cudaError_t
cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}

// One process has the emulated devices for itself: other processes cannot share their memory.
HALFGRAD_EMULATOR_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return set_error(cudaErrorNotSupported);
}
HALFGRAD_EMULATOR_API cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return set_error(cudaErrorNotSupported);
}
HALFGRAD_EMULATOR_API cudaError_t cudaIpcCloseMemHandle(void*) {
  return set_error(cudaErrorNotSupported);
}

}  // namespace halfgrad::emulator
