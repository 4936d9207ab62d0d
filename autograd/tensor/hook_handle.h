#pragma once

#include <functional>
#include <utility>

namespace halfgrad {

/// A registered hook. remove() removes it, once; a copy of the handle refers to the same hook.
class HookHandle {
 public:
  explicit HookHandle(std::function<void()> remove, unsigned number = 0)
      : remove_(std::move(remove)), number_(number) {}
  void remove() {
    if (remove_) std::exchange(remove_, nullptr)();
  }
  /// libtorch's handle of a tensor's hook, which Tensor::remove_hook() takes.
  operator unsigned() const { return number_; }

 private:
  std::function<void()> remove_;
  unsigned number_;
};

}  // namespace halfgrad
