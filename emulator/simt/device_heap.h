#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// The heap of malloc and free in kernels. Each piece is an allocation of its own, so accesses
/// beside it or after free() are found. The heap's size is cudaLimitMallocHeapSize. Thread-safe.
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

  /// How the name of each allocation of the heap begins.
  static constexpr const char* kName = "malloc in kernels";

  /// Frees all pieces.
  void release();

  /// Returns 0 if the heap is full. Addresses are multiples of 16. `made_at` names the caller.
  std::uint64_t allocate(std::size_t bytes, const std::string& made_at = "");
  /// Bytes of the live piece that begins at the address, or 0.
  std::size_t bytes_at(std::uint64_t address) const;
  /// Returns false if no live piece begins at the address.
  bool free(std::uint64_t address);

 private:
  Allocations& memory_;
  const int device_;
  const char* name_;
  mutable std::mutex mutex_;
  std::size_t bytes_;
  std::size_t in_use_ = 0;
  bool was_used_ = false;
  std::map<std::uint64_t, std::size_t> used_;  ///< address to bytes
};

}  // namespace halfgrad::emulator
