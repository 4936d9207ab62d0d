#pragma once

#include <string>

#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {

/// Memory's place: a device, and maybe a pool.
struct Place {
  int device = current_device();
  PoolId pool = kNoPool;
};
/// Allocates; 0 bytes give a null pointer. `made_by` is for messages.
cudaError_t allocate_memory(MemoryKind kind, void** result, std::size_t bytes, std::string made_by,
                            Place place = {});

/// Frees device or managed memory, or pinned memory if `host`. A pointer that is not the start of
/// such an allocation is a finding.
cudaError_t free_memory(const char* function, void* pointer, bool host);

}  // namespace halfgrad::emulator
