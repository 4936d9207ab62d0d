#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/device.h>

namespace halfgrad {

class Storage;

namespace detail {

struct LateWork;
void wait_for_late_work(const Storage& storage);  // core/late_work.h

}  // namespace detail

/// A block of memory on a device, shared by every array that is a view of it.
class Storage {
 public:
  Storage(Device device, std::size_t bytes);
  explicit Storage(const allocator::Block& block, Device device = {});
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// Address of the memory. The current stream first waits for work of core/late_work.h on it.
  std::byte* data() const {
    if (late_work_.load(std::memory_order_acquire) != nullptr) [[unlikely]] {
      detail::wait_for_late_work(*this);
    }
    return static_cast<std::byte*>(block_.data);
  }
  std::size_t bytes() const { return block_.bytes; }
  const allocator::Block& block() const { return block_; }
  Device device() const { return device_; }

  /// Counts in-place changes through any view. Autograd compares it to notice that a saved tensor
  /// was overwritten.
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  /// Counts the calls of Array::copy_() and fill_(), which leave the version as it is.
  std::uint32_t raw_writes() const { return raw_writes_.load(std::memory_order_relaxed); }
  void count_raw_write() { raw_writes_.fetch_add(1, std::memory_order_relaxed); }

  /// True once code outside of halfgrad may write to the memory unseen: it owns the memory, or has
  /// asked for its address.
  bool is_exposed() const { return exposed_.load(std::memory_order_relaxed); }
  void expose() { exposed_.store(true, std::memory_order_relaxed); }

 private:
  friend struct detail::LateWork;

  Device device_;
  allocator::Block block_;
  std::atomic<detail::LateWork*> late_work_{nullptr};  // the last that uses the memory
  std::atomic<std::uint32_t> version_{0};
  std::atomic<std::uint32_t> raw_writes_{0};
  std::atomic<bool> exposed_{false};
};

}  // namespace halfgrad
