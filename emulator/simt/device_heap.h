#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// The heap of malloc and free in kernels: one allocation of device memory, made when it is first
/// used. Its size is cudaLimitMallocHeapSize. Thread-safe.
class DeviceHeap {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{8} << 20;

  explicit DeviceHeap(Allocations& memory, int device = 0, std::size_t bytes = kDefaultBytes,
                      const char* name = kName)
      : memory_(memory), device_(device), name_(name), bytes_(bytes) {}
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// Changes the size; false if the heap is in use already.
  bool resize(std::size_t bytes);
  std::size_t bytes() const;

  /// How the allocation of malloc is named.
  static constexpr const char* kName = "malloc in kernels";

  /// Ends the heap's allocation, and with it all pieces.
  void release();

  /// Returns 0 if no piece of that size is free. Addresses are multiples of 16.
  std::uint64_t allocate(std::size_t bytes);
  /// Returns false if no live piece begins at the address.
  bool free(std::uint64_t address);

 private:
  Allocations& memory_;
  const int device_;
  const char* name_;
  mutable std::mutex mutex_;
  std::size_t bytes_;
  const Allocation* allocation_ = nullptr;
  std::map<std::size_t, std::size_t> free_, used_;  ///< offset to bytes
};

}  // namespace halfgrad::emulator
