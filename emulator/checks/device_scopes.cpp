#include <halfgrad/emulator/checks/device_scopes.h>

#include <algorithm>
#include <memory>

namespace halfgrad::emulator {
namespace {

bool conflict(const StrongAccess& a, const StrongAccess& b) {
  return a.device != b.device && (a.write || b.write) && !(a.of_system && b.of_system);
}

bool is_same(const StrongAccess& a, const StrongAccess& b) {
  return a.operation == b.operation && a.write == b.write && a.of_system == b.of_system;
}

}  // namespace

DeviceScopes& DeviceScopes::of(const Allocations& memory) {
  static std::mutex mutex;
  static std::unordered_map<const Allocations*, std::unique_ptr<DeviceScopes>> all;
  const std::lock_guard lock(mutex);
  auto& one = all[&memory];
  if (one == nullptr) one = std::make_unique<DeviceScopes>();
  return *one;
}

OperationId DeviceScopes::meet(std::uint64_t word, const StrongAccess& access,
                               const OperationOrder& order) {
  const std::lock_guard lock(mutex_);
  std::vector<StrongAccess>& earlier = words_[word];
  const auto same = [&](const StrongAccess& one) { return is_same(one, access); };
  if (std::any_of(earlier.begin(), earlier.end(), same)) return 0;
  std::erase_if(earlier, [&](const StrongAccess& one) {
    return one.operation != access.operation && order.ordered(one.operation, access.operation);
  });
  OperationId found = 0;
  for (const StrongAccess& one : earlier) {
    if (!conflict(one, access) || order.ordered(access.operation, one.operation)) continue;
    if (reported_.emplace(one.operation, access.operation).second) found = one.operation;
  }
  earlier.push_back(access);
  return found;
}

}  // namespace halfgrad::emulator
