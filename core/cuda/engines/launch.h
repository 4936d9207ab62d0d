#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/runtime/check.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::detail {

/// The device and the stream of an op's kernels. Makes the device current until the end of the
/// scope.
///
///   const Launch launch(out, "softmax");
///   kernel<<<blocks, threads, 0, launch.stream()>>>(...);
///   launch.check();
class Launch {
 public:
  /// `sizes` is the shape of the work, for errors.
  Launch(Device device, const char* op, const Shape& sizes)
      : guard_(device),
        stream_(static_cast<cudaStream_t>(current_stream(device).native())),
        op_(op),
        sizes_(sizes) {}
  Launch(const Array& out, const char* op) : Launch(out.device(), op, out.sizes()) {}

  /// For one kernel, copy or library call, which it counts.
  cudaStream_t stream() const {
    ++launches;
    return stream_;
  }
  /// Throws std::runtime_error if the launch, or `call`, was refused.
  void check(cudaError_t error = cudaGetLastError(), const char* call = "a kernel launch") const {
    detail::check(error, op_, call, &sizes_);
  }

 private:
  DeviceGuard guard_;
  cudaStream_t stream_;
  const char* op_;
  Shape sizes_;
};

template <class F>
concept Named = requires {
  F::name;
};

/// Returns the name of the functor in errors: its own, or else the engine's.
template <class F>
constexpr const char* name_of(const char* engine) {
  if constexpr (Named<F>) {
    return F::name;
  } else {
    return engine;
  }
}

/// Returns how many blocks n items need at `per_block` each.
inline unsigned blocks_for(std::int64_t n, std::int64_t per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

}  // namespace halfgrad::detail
