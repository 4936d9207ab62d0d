#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halfgrad::emulator {

enum class MemoryKind : std::uint8_t { device, pinned, managed, variable };

/// Ids of memory pools, whose rights of access are their own. Memory of cudaMalloc has no pool.
using PoolId = std::uint64_t;
inline constexpr PoolId kNoPool = 0;

/// A live piece of memory that kernels may access. `written` is kept if settings().check_init, for
/// device memory only: writes of the host to pinned and managed memory are not seen.
struct Allocation {
  std::uint64_t begin = 0;  ///< the address that programs see
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  std::byte* host = nullptr;     ///< address at which the emulator reads and writes it
  std::byte* written = nullptr;  ///< one flag for each byte: not 0 once it was written
  std::uint64_t serial = 0;      ///< number of the allocation, from 1
  std::string made_by;           ///< function and call site that allocated it, for messages
  PoolId pool = kNoPool;

  std::uint64_t end() const { return begin + bytes; }
};

/// All live allocations, by address. Thread-safe.
///
/// Device memory is mapped twice. Programs see addresses that the host may not access, so that host
/// code which dereferences a device pointer stops with a finding; the emulator uses the other view.
class Allocations {
 public:
  Allocations();
  ~Allocations();

  /// Returns nullptr if no device memory is left. Fresh memory holds 0xA5 bytes.
  const Allocation* allocate(MemoryKind kind, int device, std::size_t bytes, std::size_t alignment,
                             std::string made_by, PoolId pool = kNoPool);
  /// Makes host memory of the program known (cudaHostRegister); it is not owned.
  const Allocation* add_host(void* address, std::size_t bytes, std::string made_by);
  /// Ends an allocation; its addresses are not used again soon, so late accesses are found.
  void free(std::uint64_t address);

  /// The allocation that holds [address, address + bytes), or nullptr. The pointer stays valid
  /// until the allocation ends.
  const Allocation* find(std::uint64_t address, std::size_t bytes) const;
  /// Text for a message about the nearest live or recently freed allocation, such as
  /// "4 bytes after the end of an allocation of 1024 bytes made by cudaMalloc", or "".
  std::string describe_neighbour(std::uint64_t address) const;
  /// Whether the address belonged to an allocation that was freed, and to none since.
  bool was_freed(std::uint64_t address) const;
  /// Changes whenever an allocation ends: a cached find() is valid while it stays the same.
  std::uint64_t generation() const;

  /// Bytes of device memory and of variables that are in use.
  std::size_t bytes_in_use(int device) const;
  /// All live allocations, by address: for the check of leaks.
  std::vector<Allocation> live() const;
  /// Live allocations of memory that host and devices share, without memory of add_host(); nothing
  /// if there are more than `most`.
  std::vector<Allocation> shared_with_host(std::size_t most) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halfgrad::emulator
