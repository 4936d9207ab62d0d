#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace halfgrad::testing {

/// Memory in whole pages that another process can map. Blocks move: the next block lies behind the
/// last one until a window is full, so that a kernel meets new addresses in every case.
class SharedMemory {
 public:
  /// The memory of this process. It takes as much of the machine as its blocks do.
  static SharedMemory& instance();

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_; }
  std::byte* base() const { return base_; }
  std::size_t size() const { return size_; }
  /// Reserved for messages between the processes, at the start.
  static constexpr std::size_t kMessageBytes = 64 * 1024;

  /// Returns a block of at least `bytes`, rounded up to pages. Its content is arbitrary.
  std::byte* allocate(std::size_t bytes);
  void free(std::byte* block) noexcept;
  /// The distance of an address from the start; empty if it is outside.
  std::optional<std::size_t> offset_of(const void* address) const;

 private:
  SharedMemory();
  ~SharedMemory() = default;  // lives until the process ends

  bool is_free(std::size_t offset, std::size_t bytes) const;

  int file_ = -1;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> blocks_;  // offset and size of each
  std::size_t next_ = kMessageBytes;
};

/// Bytes of a page of this machine's memory.
std::size_t page_bytes();

}  // namespace halfgrad::testing
