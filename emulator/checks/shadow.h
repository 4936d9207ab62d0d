#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <halfgrad/emulator/checks/shadow_page.h>
#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// Shadow pages of device memory, made when first touched. Thread-safe; each page has its own lock.
class GlobalShadow {
 public:
  /// The shadow of these allocations. It lives as long as the process.
  static GlobalShadow& of(const Allocations& memory);

  /// The page of addresses [number << 12, number + 1 << 12). References stay valid.
  ShadowPage& page(std::uint64_t number);
  /// Drops the history of whole pages in [begin, end): call when memory is freed.
  void forget(std::uint64_t begin, std::uint64_t end);
  /// Drops the history of exactly these bytes: call when a piece of the device's heap is given out.
  void forget_bytes(std::uint64_t begin, std::uint64_t end);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ShadowPage>> pages_;
};

/// A number that no other launch or operation has.
std::uint64_t next_serial();

}  // namespace halfgrad::emulator
