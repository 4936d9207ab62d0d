#pragma once

#include <cstdint>

namespace halfgrad::detail {

/// Number of kernels, copies and calls of CUDA libraries that this thread has queued on GPUs, for
/// observers. Work that a graph captures counts once, its replays do not. Always 0 without a GPU.
inline thread_local constinit std::int64_t launches = 0;

}  // namespace halfgrad::detail
