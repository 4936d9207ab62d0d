#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <halfgrad/core/device.h>
#include <halfgrad/core/error.h>
#include <halfgrad/core/stream.h>

/// The caching allocator behind every Array. Freed blocks are kept in lists by size class and
/// reused, so a training loop stops calling the system after its first step.
///
/// A GPU runs asynchronously, so each block belongs to the stream that was current when it was
/// allocated. A freed block can be reused on that stream at once, because the next use is queued
/// behind the last one. Uses on any other stream must be announced with record_stream().
namespace halfgrad::detail {

class CachingAllocator;

}  // namespace halfgrad::detail

namespace halfgrad {

/// Thrown when an allocation fails; the message lists the memory in use. Named as in libtorch.
class OutOfMemoryError : public detail::Raised<std::runtime_error> {
 public:
  /// `refusal` tells the device and the reason: "on cpu, got a refusal from the system ...".
  OutOfMemoryError(std::size_t bytes, std::string refusal);
  /// Rewords `cause` for the op that wanted an array: "float32 [65536, 65536]".
  OutOfMemoryError(const OutOfMemoryError& cause, const std::string& op, const std::string& array);

 private:
  std::size_t bytes_;
  std::string refusal_;
};

}  // namespace halfgrad

namespace halfgrad::allocator {

/// Sizes are in bytes, rounded up to the size class.
struct Stats {
  std::int64_t current = 0;          ///< held by live arrays
  std::int64_t peak = 0;             ///< highest `current` since start or reset_peak()
  std::int64_t cached = 0;           ///< freed, kept for reuse
  std::int64_t allocations = 0;      ///< calls to allocate() that succeeded
  std::int64_t system_requests = 0;  ///< allocations that the cache could not serve
};

/// One allocation.
struct Block {
  void* data = nullptr;
  std::size_t bytes = 0;                      ///< requested size
  void* stream = nullptr;                     ///< Stream::native() of the stream it belongs to
  std::uint64_t pool = 0;                     ///< the Pool it came from; 0 is the shared memory
  detail::CachingAllocator* owner = nullptr;  ///< nullptr if empty, and for foreign memory
};

/// Returns a block of at least `bytes` bytes, aligned to 64 bytes on the CPU and 256 on a GPU; data
/// is nullptr for 0 bytes. If the system refuses, empties the cache and tries again. Throws
/// OutOfMemoryError, with a table of the memory in use, if the system, the limit or fault injection
/// refuses.
Block allocate(Device device, std::size_t bytes);

/// Returns pinned host memory, which a GPU accesses directly, so copies are asynchronous. A freed
/// block is reused only after the copies announced with record_stream() are done. Without a GPU
/// this is ordinary memory.
Block allocate_pinned(std::size_t bytes);
bool is_pinned(const Block& block);

void deallocate(const Block& block) noexcept;

/// Announces that work on `stream`, another stream than the block's, uses it. Call it after
/// queueing that work.
void record_stream(const Block& block, const Stream& stream);

Stats stats(Device device);
void reset_peak(Device device);

/// Returns text such as "16.00 GiB", "1.50 MiB", "2.00 KiB" or "1 byte".
std::string text_of_bytes(std::int64_t bytes);

/// Returns cached blocks to the system; for the CPU, pinned ones too.
void empty_cache(Device device);

/// Refuses allocations that would raise `current` above this many bytes; 0 removes the limit.
void set_limit(Device device, std::size_t bytes);

/// Fault injection for tests: the n-th allocation from now on fails once (1 is the next). 0
/// disarms.
void fail_allocation(Device device, std::int64_t n);

/// Blocks of a GPU that are reserved until the Pool is destroyed: other code cannot get them, and
/// empty_cache() keeps them. A captured graph owns one, because its replays use fixed addresses.
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

/// Makes this thread allocate from the pool until the end of the scope. Blocks that it frees go to
/// the pool too, unless they belong to another pool.
class PoolScope {
 public:
  [[nodiscard]] explicit PoolScope(const Pool& pool);

  struct Current {
    detail::CachingAllocator* owner = nullptr;
    std::uint64_t id = 0;
  };

 private:
  std::optional<detail::GuardedValue<Current>> current_;  // empty for a CPU pool
};

}  // namespace halfgrad::allocator
