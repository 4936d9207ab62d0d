#include <halfgrad/core/allocator.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfgrad::allocator {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest SIMD register

// Size classes: four per power of two, so that rounding wastes at most a quarter.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  if (bytes <= 4 * kAlignment) {
    const std::size_t lines = (bytes + kAlignment - 1) / kAlignment;
    return {lines - 1, lines * kAlignment};
  }
  const auto log = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t step = std::size_t{1} << (log - 2);
  const std::size_t steps = (bytes + step - 1) / step;  // 5, 6, 7 or 8 quarters of 2^log
  return {4 * (log - 8) + steps - 1, steps * step};
}

class HostAllocator {
 public:
  void* allocate(std::size_t bytes) {
    const SizeClass wanted = size_class(bytes);
    const std::lock_guard lock(mutex_);
    if (fail_at_ > 0 && --fail_at_ == 0) refuse("fault injection", wanted.bytes);
    const auto size = static_cast<std::int64_t>(wanted.bytes);
    if (limit_ > 0 && stats_.current + size > limit_) refuse("the limit", wanted.bytes);
    void* block = take_cached(wanted);
    if (block == nullptr) block = request(wanted.bytes);
    ++stats_.allocations;
    stats_.current += size;
    stats_.peak = std::max(stats_.peak, stats_.current);
    return block;
  }

  void deallocate(void* block, std::size_t bytes) noexcept {
    const SizeClass given = size_class(bytes);
    const std::lock_guard lock(mutex_);
    stats_.current -= static_cast<std::int64_t>(given.bytes);
    auto& list = free_[given.index];
    if (list.size() == list.capacity()) {
      try {
        list.reserve(std::max<std::size_t>(16, 2 * list.capacity()));
      } catch (const std::bad_alloc&) {
        release(block);
        return;
      }
    }
    list.push_back(block);
    stats_.cached += static_cast<std::int64_t>(given.bytes);
  }

  Stats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    stats_.peak = stats_.current;
  }

  void empty_cache() {
    const std::lock_guard lock(mutex_);
    drop_cache();
  }

  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = static_cast<std::int64_t>(bytes);
  }

  void fail_allocation(std::int64_t n) {
    const std::lock_guard lock(mutex_);
    fail_at_ = n;
  }

 private:
  static void release(void* block) noexcept {
    ::operator delete (block, std::align_val_t{kAlignment});
  }

  void* take_cached(SizeClass wanted) {
    auto& list = free_[wanted.index];
    if (list.empty()) return nullptr;
    void* const block = list.back();
    list.pop_back();
    stats_.cached -= static_cast<std::int64_t>(wanted.bytes);
    return block;
  }

  void* request(std::size_t bytes) {
    ++stats_.system_requests;
    void* block = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (block == nullptr) {
      drop_cache();
      block = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    }
    if (block == nullptr) refuse("the system", bytes);
    return block;
  }

  void drop_cache() noexcept {
    for (auto& list : free_) {
      for (void* const block : list) release(block);
      list.clear();
    }
    stats_.cached = 0;
  }

  [[noreturn]] void refuse(const char* who, std::size_t bytes) const {
    throw std::runtime_error(
        "allocate: expected " + std::to_string(bytes) + " bytes on cpu, got a refusal from " + who +
        " (held " + std::to_string(stats_.current) + ", peak " + std::to_string(stats_.peak) +
        ", limit " + std::to_string(limit_) + " bytes)");
  }

  static constexpr std::size_t kClasses = 4 * (64 - 8) + 8;

  std::mutex mutex_;
  std::array<std::vector<void*>, kClasses> free_;
  Stats stats_;
  std::int64_t limit_ = 0;
  std::int64_t fail_at_ = 0;
};

// Never destroyed: arrays with static lifetime may outlive every other static object.
HostAllocator& host() {
  static auto* const instance = new HostAllocator;
  return *instance;
}

HostAllocator& of(Device device) {
  if (device.is_cpu()) return host();
  throw std::runtime_error("allocate: expected a device this build can use, got " + device.str() +
                           " (no CUDA backend)");
}

}  // namespace

void* allocate(Device device, std::size_t bytes) {
  return bytes == 0 ? nullptr : of(device).allocate(bytes);
}

void deallocate(Device device, void* block, std::size_t bytes) noexcept {
  if (block != nullptr) of(device).deallocate(block, bytes);
}

Stats stats(Device device) { return of(device).stats(); }
void reset_peak(Device device) { of(device).reset_peak(); }
void empty_cache(Device device) { of(device).empty_cache(); }
void set_limit(Device device, std::size_t bytes) { of(device).set_limit(bytes); }
void fail_allocation(Device device, std::int64_t n) { of(device).fail_allocation(n); }

}  // namespace halfgrad::allocator
