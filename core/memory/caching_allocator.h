#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/memory/memory_source.h>

namespace halfgrad::detail {

/// A stream within a pool. Blocks of one queue are reused in the order of its stream.
struct Queue {
  void* stream = nullptr;
  std::uint64_t pool = 0;

  friend auto operator<=>(const Queue&, const Queue&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Keeps freed blocks of one kind of memory in lists by queue and size class. It implements
/// allocator.h for every device. All functions are thread-safe.
class CachingAllocator {
 public:
  /// `place` names the memory in messages.
  CachingAllocator(std::string place, MemorySource source)
      : place_(std::move(place)), source_(std::move(source)) {}

  allocator::Block allocate(std::size_t bytes, Queue queue);
  /// Frees the block; it goes to `pool`, if not 0, unless it belongs to another open pool.
  void deallocate(const allocator::Block& block, std::uint64_t pool) noexcept;
  /// After it is freed, the block is not reused before the work queued on `stream` by then is done.
  void record_stream(const allocator::Block& block, const Stream& stream);

  /// Opens a pool. When it is closed, its blocks go to stream `home`.
  std::uint64_t open_pool(const Stream& home);
  void close_pool(std::uint64_t pool) noexcept;

  allocator::Stats stats();
  void reset_peak();
  void empty_cache();
  void set_limit(std::size_t bytes);
  void fail_allocation(std::int64_t n);

 private:
  static constexpr std::size_t kClasses = 4 * (64 - 8) + 8;

  struct SizeClass {
    std::size_t index;
    std::size_t bytes;
  };
  static SizeClass size_class(std::size_t bytes);
  static std::size_t class_bytes(std::size_t index);

  using FreeLists = std::array<std::vector<void*>, kClasses>;

  struct Pool {
    Stream home;
    bool open;
  };

  // A freed block that other streams may still use. `events` is shorter than `streams` while a
  // graph capture forbids recording events.
  struct Pending {
    allocator::Block block;
    std::vector<Stream> streams;
    std::vector<void*> events;
  };

  FreeLists& free_lists(Queue queue);
  void* take_cached(Queue queue, SizeClass wanted);
  // Waiting for the device is forbidden while a pool's graph is captured.
  void* request(std::size_t bytes, bool may_wait);
  void keep(const allocator::Block& block, SizeClass given) noexcept;
  void move_to_pool(Pending& freed, std::uint64_t pool);
  bool done(Pending& pending);
  void collect_pending();
  void drop_cache();
  Queue queue_of(Queue queue) const;
  [[noreturn]] void refuse(const char* who, std::size_t bytes) const;
  std::string table() const;

  const std::string place_;
  const MemorySource source_;

  std::mutex mutex_;
  std::map<Queue, FreeLists> free_;
  FreeLists& default_lists_ = free_[{}];  // the CPU's only lists, found without a lookup
  std::array<std::int64_t, kClasses> live_{};
  std::unordered_map<void*, std::vector<Stream>> other_streams_;  // key: data of a live block
  std::vector<Pending> pending_;
  std::map<std::uint64_t, Pool> pools_;
  allocator::Stats stats_;
  std::int64_t limit_ = 0;
  std::int64_t fail_at_ = 0;
};

}  // namespace halfgrad::detail
