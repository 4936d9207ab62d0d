#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

namespace halfgrad::emulator {

/// Objects behind opaque handles of the CUDA runtime. Handles are made-up addresses that are never
/// used twice, so a destroyed handle is told apart from a live one for the rest of the process.
template <class Handle, class Object>
class HandleTable {
 public:
  /// Handles begin at `first` and are 64 apart.
  explicit HandleTable(std::uintptr_t first) : first_(first), next_(first) {}

  Handle add(std::unique_ptr<Object> object) {
    const auto handle = reinterpret_cast<Handle>(next_);
    objects_.emplace(next_, std::move(object));
    next_ += 64;
    return handle;
  }
  /// The live object, or nullptr.
  Object* find(Handle handle) const {
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second.get();
  }
  bool was_destroyed(Handle handle) const {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    return number >= first_ && number < next_ && (number - first_) % 64 == 0 &&
           find(handle) == nullptr;
  }
  std::unique_ptr<Object> take(Handle handle) {
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  template <class F>
  void each(F f) const {
    for (const auto& [handle, object] : objects_) f(*object);
  }
  std::size_t size() const { return objects_.size(); }

 private:
  std::uintptr_t first_, next_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Object>> objects_;
};

}  // namespace halfgrad::emulator
