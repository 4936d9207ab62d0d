#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <halfgrad/core/device.h>
#include <halfgrad/core/stream.h>

/// The caching allocator behind every Array. Freed blocks are kept in lists by size class and
/// handed out again, so a training loop stops asking the system after its first step.
///
/// A GPU runs behind the host, so its blocks follow a stream's order: a block belongs to the stream
/// that was current when it was allocated, and once freed it may be handed out on that stream at
/// once, since what uses it next is queued behind what used it last. Work on any other stream must
/// be made known with record_stream.
namespace halfgrad::detail {

class CachingAllocator;

}  // namespace halfgrad::detail

namespace halfgrad {

/// Memory that was refused, with the sizes of what is held: libtorch's name.
class OutOfMemoryError : public std::runtime_error {
 public:
  /// `refusal` says where and why: "on cpu, got a refusal from the system ...".
  OutOfMemoryError(std::size_t bytes, std::string refusal);
  /// The same error in the words of an op that wanted an array: "float32 [65536, 65536]".
  OutOfMemoryError(const OutOfMemoryError& cause, const std::string& op, const std::string& array);

 private:
  std::size_t bytes_;
  std::string refusal_;
};

}  // namespace halfgrad

namespace halfgrad::allocator {

/// All figures in bytes, after rounding up to the size class, except the counters.
struct Stats {
  std::int64_t current = 0;          ///< held by live arrays
  std::int64_t peak = 0;             ///< highest `current` since start or reset_peak()
  std::int64_t cached = 0;           ///< freed, kept for reuse
  std::int64_t allocations = 0;      ///< calls to allocate() that succeeded
  std::int64_t system_requests = 0;  ///< of these, how many had to ask the system
};

/// One allocation: where it lies, and whose order governs its reuse.
struct Block {
  void* data = nullptr;
  std::size_t bytes = 0;                      ///< as asked for
  void* stream = nullptr;                     ///< Stream::native() of the stream it belongs to
  std::uint64_t pool = 0;                     ///< the Pool it came from; 0 is everybody's
  detail::CachingAllocator* owner = nullptr;  ///< null for no memory, and for somebody else's
};

/// A block of at least `bytes` bytes, aligned to 64 on the CPU and 256 on a GPU; zero bytes give
/// nullptr. Throws OutOfMemoryError with a table of what is held when the system, the limit or
/// fault injection refuses; before the system's refusal counts, the cache is emptied and the
/// request tried once more.
Block allocate(Device device, std::size_t bytes);

/// Host memory that a GPU reads and writes by itself, so that copies run beside the host's work.
/// Once freed it is reused only after the copies made known with record_stream are done. On a
/// machine without a GPU: ordinary memory.
Block allocate_pinned(std::size_t bytes);
bool is_pinned(const Block& block);

void deallocate(const Block& block) noexcept;

/// Work on `stream`, which the block does not belong to, uses it: call after queueing that work.
void record_stream(const Block& block, const Stream& stream);

Stats stats(Device device);
void reset_peak(Device device);

/// "16.00 GiB", "1.50 MiB", "2.00 KiB" or "1 byte".
std::string text_of_bytes(std::int64_t bytes);

/// Gives cached blocks back to the system; for the CPU, pinned ones too.
void empty_cache(Device device);

/// Refuses allocations that would bring `current` above this many bytes; 0 lifts the limit.
void set_limit(Device device, std::size_t bytes);

/// Fault injection for tests: the n-th allocation from now (1 = the next) fails, once;
/// 0 disarms.
void fail_allocation(Device device, std::int64_t n);

/// Blocks of a GPU that are set apart for as long as the Pool lives: nobody else gets them, and
/// empty_cache leaves them. A captured graph owns one, for its replays use the same addresses.
class Pool {
 public:
  /// Does nothing for the CPU.
  explicit Pool(Device device);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

 private:
  friend class PoolScope;
  detail::CachingAllocator* owner_ = nullptr;
  std::uint64_t id_ = 0;
};

/// Until the end of the scope this thread allocates from the pool, and what it frees goes there,
/// unless it belongs to another.
class PoolScope {
 public:
  [[nodiscard]] explicit PoolScope(const Pool& pool);

  struct Current {
    detail::CachingAllocator* owner = nullptr;
    std::uint64_t id = 0;
  };

 private:
  std::optional<detail::GuardedValue<Current>> current_;  // none for a pool of the CPU
};

}  // namespace halfgrad::allocator
