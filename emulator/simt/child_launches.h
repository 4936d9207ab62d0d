#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <halfgrad/emulator/simt/device_heap.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// A stream of a kernel. Threads of a block share the NULL stream of the block; named streams
/// belong to the grid.
struct DeviceStream {
  static constexpr std::uint64_t kFireAndForget = 4;
  static constexpr std::uint64_t kTail = 3;
  static constexpr std::uint64_t kPerThread = 2;  ///< cudaStreamPerThread

  std::uint64_t handle = 0;
  std::uint64_t block = 0;  ///< owner of the NULL stream
  unsigned thread = 0;      ///< owner of a thread's own NULL stream, from 1
  auto operator<=>(const DeviceStream&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Work that a thread of a kernel gave to a stream. It starts when the kernel's grid has ended,
/// which a GPU may do, too.
struct DeviceWork {
  enum class Kind : std::uint8_t { grid, record, wait };
  Kind kind = Kind::grid;
  DeviceStream stream;
  std::uint64_t event = 0;
  std::uint64_t block = 0;  ///< the block that issued it
  KnownAccesses known;      ///< accesses that come before the call

  Module* module = nullptr;
  const Kernel* kernel = nullptr;
  Dim3 grid_size, block_size;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
};

/// A buffer that a thread fills with the parameters of a launch.
struct ParameterBuffer {
  const Kernel* kernel = nullptr;  ///< nullptr: the launch names it
  Dim3 grid_size, block_size;
  std::size_t dynamic_shared_bytes = 0, bytes = 0;
};

/// Memory and counts that all grids of one launch by the host share.
struct LaunchFamily {
  LaunchFamily(Allocations& memory, int device)
      : heap(memory, device, kHeapBytes, "launches in kernels") {}

  static constexpr std::size_t kHeapBytes = std::size_t{16} << 20;
  DeviceHeap heap;  ///< buffers of parameters, and texts of errors
  std::map<std::pair<int, bool>, std::uint64_t> error_texts;
  std::uint64_t next_handle = 0x10000;  ///< next stream or event
  std::mutex mutex;
};

/// Live handles of streams or events, and the block that made each.
using DeviceHandles = std::map<std::uint64_t, std::uint64_t>;

/// Work that the threads of one grid gave to the device runtime. Its members need `family.mutex`.
class ChildLaunches {
 public:
  ChildLaunches(LaunchFamily& family, unsigned depth) : family(family), depth(depth) {}

  /// Grids in the order in which their streams allow them to run; then those of the tail stream.
  std::deque<DeviceWork> take(std::deque<DeviceWork>& tail);

  /// Notes that a block uses a stream or an event; false if there is none.
  bool uses(const DeviceHandles& handles, std::uint64_t handle, std::uint64_t block) {
    const auto found = handles.find(handle);
    if (found == handles.end()) return false;
    shares_streams |= found->second != block;
    return true;
  }

  LaunchFamily& family;
  const unsigned depth;  ///< 0 for the grid that the host launched
  std::deque<DeviceWork> work;
  DeviceHandles streams, events;
  bool shares_streams = false;  ///< several blocks use one stream or event
  std::map<std::uint64_t, ParameterBuffer> buffers;
  std::map<std::pair<std::uint64_t, unsigned>, int> errors;  ///< by block and thread
};

/// Runs a grid, the grids that it launches, and theirs. Returns the counters of the first one. An
/// exception that ends one of them goes to `failure`, unless that is nullptr.
LaunchCounters run_with_children(const Machine& machine, const LaunchRequest& request,
                                 std::exception_ptr* failure);

}  // namespace halfgrad::emulator
