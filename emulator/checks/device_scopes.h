#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/memory/allocations.h>

namespace halfgrad::emulator {

/// An atomic or another strong access by a kernel, to memory that several devices may access.
struct StrongAccess {
  OperationId operation = 0;
  int device = 0;
  bool write = false;
  bool of_system = false;  ///< its scope is all devices and the host
};

/// Finds strong accesses of two devices to one word of which one has a smaller scope than the
/// system: they are not atomic to each other (PTX ISA, "Morally strong operations"). Thread-safe.
class DeviceScopes {
 public:
  /// The accesses to memory of these allocations. They live as long as the process.
  static DeviceScopes& of(const Allocations& memory);

  /// Records an access to the word. Returns an operation of another device that it races with and
  /// that was not returned for it before, or 0.
  OperationId meet(std::uint64_t word, const StrongAccess& access, const OperationOrder& order);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::vector<StrongAccess>> words_;
  std::set<std::pair<OperationId, OperationId>> reported_;
};

}  // namespace halfgrad::emulator
