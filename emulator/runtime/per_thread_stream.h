#pragma once

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// The stream of a call in a program compiled with --default-stream per-thread: stream 0 is the
/// calling thread's own.
inline cudaStream_t or_per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

}  // namespace halfgrad::emulator
