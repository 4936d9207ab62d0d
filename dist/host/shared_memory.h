#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <halfgrad/core/array.h>

namespace halfgrad::dist {

/// A place in the shared memory of a process, as it tells others.
struct SharedPlace {
  std::int64_t file = -1;  ///< the process's descriptor; -1: the memory is not shared
  std::int64_t inode = 0;
  std::int64_t bytes = 0;  ///< the size of the file
  std::int64_t offset = 0;
};

/// Arrays of this process that other processes of its machine can read. Each of them is a file in
/// memory, from Linux's memfd_create: it has no name that could stay behind, and it ends with the
/// last process that has mapped it. The files stay until the end, also those of released arrays:
/// later arrays take them, so that other processes need not map new ones.
class SharedMemory : public std::enable_shared_from_this<SharedMemory> {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Returns an uninitialised array. Small arrays are not shared, nor those for which the machine
  /// has no shared memory left.
  Array empty(const Shape& sizes, DType dtype);

  /// Returns the place of the byte at `memory`; its file is -1 if it is not in one of the arrays.
  SharedPlace place_of(const std::byte* memory) const;

 private:
  struct File {
    int descriptor;
    std::int64_t inode;
    std::size_t bytes;
    std::byte* memory;
    bool is_used;
  };

  File* take(std::size_t bytes);
  std::optional<File> create(std::size_t bytes) const;
  void release(File& file);

  mutable std::mutex mutex_;
  std::deque<File> files_;  // a deque: pointers to its elements stay valid
};

/// The shared memory of another process, mapped for reading where this one looks at it.
class PeerMemory {
 public:
  explicit PeerMemory(pid_t process) : process_(process) {}
  ~PeerMemory();
  PeerMemory(PeerMemory&& other) noexcept = default;
  PeerMemory& operator=(PeerMemory&& other) = delete;

  /// Returns the address here of a place there. Throws CommunicationError if this process may not
  /// read it.
  const std::byte* address_of(const SharedPlace& place);

 private:
  struct Mapping {
    const std::byte* memory;
    std::size_t bytes;
  };

  pid_t process_;
  std::map<std::int64_t, Mapping> mappings_;  // by inode
};

}  // namespace halfgrad::dist
