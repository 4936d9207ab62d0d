#pragma once

#include <atomic>
#include <cstdint>

#include <halfgrad/core/device.h>

namespace halfgrad::detail {

/// A replay of a graph on a GPU.
struct GraphReplay {
  Device device;
  std::int64_t launches;  ///< kernels, copies and calls of CUDA libraries in the graph
};

/// Called on the thread that replays, before the work is queued and after it, unless it is nullptr.
/// An observer of ops sets it: to ops a replay is invisible.
using ReplayHook = void (*)(const GraphReplay& replay, bool is_queued);
inline std::atomic<ReplayHook> replay_hook = nullptr;

}  // namespace halfgrad::detail
