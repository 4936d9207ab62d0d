#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/check.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::detail {

/// Where an op's kernels go: makes `device` current until the end of the scope.
///
///   const Launch launch(out.device(), "softmax");
///   kernel<<<blocks, threads, 0, launch.stream()>>>(...);
///   launch.check();
class Launch {
 public:
  Launch(Device device, const char* op)
      : guard_(device),
        stream_(static_cast<cudaStream_t>(current_stream(device).native())),
        op_(op) {}

  cudaStream_t stream() const { return stream_; }
  /// Throws std::runtime_error if the launch was refused.
  void check() const { detail::check(cudaGetLastError(), op_, "a kernel launch"); }

 private:
  DeviceGuard guard_;
  cudaStream_t stream_;
  const char* op_;
};

/// Blocks for n items at `per_block` each.
inline unsigned blocks_for(std::int64_t n, std::int64_t per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

}  // namespace halfgrad::detail
