#include "fused_adam.h"

#include <halfgrad/core/stream.h>

namespace {

__global__ void begin_step(FusedAdam adam) { adam.begin_step(); }

// One thread an element. Neighbouring threads read neighbouring addresses, so every access is
// coalesced: 28 bytes an element (p, m, v read and written, g read), 4 more to write g unscaled.
__global__ void update(FusedAdam adam) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < adam.n) adam.update(i);
}

}  // namespace

void step(const FusedAdam& adam, halfgrad::Device device) {
  if (device.is_cpu()) return step_on_cpu(adam);
  const auto stream = static_cast<cudaStream_t>(halfgrad::current_stream(device).native());
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((adam.n + kThreads - 1) / kThreads);
  begin_step<<<1, 1, 0, stream>>>(adam);
  update<<<blocks, kThreads, 0, stream>>>(adam);
}
