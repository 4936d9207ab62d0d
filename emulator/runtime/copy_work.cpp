#include <cstring>
#include <memory>
#include <vector>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/error_state.h>

namespace halfgrad::emulator {
namespace {

bool is_known(const void* pointer) {
  return process().memory.find(reinterpret_cast<std::uint64_t>(pointer), 1) != nullptr;
}

/// The emulator's view of one row, or the pointer itself for pageable host memory.
std::byte* view(const void* pointer, std::size_t bytes, AccessKind kind, OperationId operation) {
  if (is_host(place_of(pointer)) && !is_known(pointer))
    return static_cast<std::byte*>(const_cast<void*>(pointer));
  return host_view(pointer, bytes, kind, operation, "copy");
}

void set_written(const void* pointer, std::size_t bytes, const std::byte* flags) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* found = process().memory.find(address, bytes);
  if (found == nullptr || found->written == nullptr) return;
  std::byte* written = found->written + (address - found->begin);
  if (flags == nullptr) {
    std::memset(written, 1, bytes);
  } else {
    std::memcpy(written, flags, bytes);
  }
}

const std::byte* written_flags(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* found = process().memory.find(address, bytes);
  return found == nullptr || found->written == nullptr ? nullptr
                                                       : found->written + (address - found->begin);
}

}  // namespace

MemoryPlace place_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* found = process().memory.find(address, 1);
  if (found == nullptr) {
    return process().memory.was_freed(address) ? MemoryPlace::device : MemoryPlace::pageable;
  }
  switch (found->kind) {
    case MemoryKind::pinned:
      return MemoryPlace::pinned;
    case MemoryKind::managed:
      return MemoryPlace::managed;
    default:
      return MemoryPlace::device;
  }
}

bool fits(const void* pointer, std::size_t bytes) {
  if (place_of(pointer) == MemoryPlace::pageable) return true;
  return process().memory.find(reinterpret_cast<std::uint64_t>(pointer), bytes) != nullptr;
}

cudaError_t check_direction(const void* to, const void* from, cudaMemcpyKind kind) {
  const MemoryPlace target = place_of(to), source = place_of(from);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  // Pinned and managed memory may stand on either side.
  if (to_device && target == MemoryPlace::pageable) return cudaErrorInvalidValue;
  if (from_device && source == MemoryPlace::pageable) return cudaErrorInvalidValue;
  if (!to_device && target == MemoryPlace::device) return cudaErrorInvalidValue;
  if (!from_device && source == MemoryPlace::device) return cudaErrorInvalidValue;
  return cudaSuccess;
}

void copy_row(void* to, const void* from, std::size_t bytes, OperationId operation) {
  const std::byte* source = view(from, bytes, AccessKind::load, operation);
  std::byte* target = view(to, bytes, AccessKind::store, operation);
  if (source == nullptr || target == nullptr) return;
  std::memmove(target, source, bytes);
  set_written(to, bytes, written_flags(from, bytes));
}

void fill_row(void* to, std::uint32_t value, unsigned element_bytes, std::size_t elements,
              OperationId operation) {
  std::byte* target = view(to, elements * element_bytes, AccessKind::store, operation);
  if (target == nullptr) return;
  for (std::size_t i = 0; i < elements; ++i)
    std::memcpy(target + i * element_bytes, &value, element_bytes);
  set_written(to, elements * element_bytes, nullptr);
}

}  // namespace halfgrad::emulator
