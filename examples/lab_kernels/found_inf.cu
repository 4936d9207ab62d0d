/// Sets found_inf to 1 if a gradient is inf or NaN, as a loss scaler asks. Run it under
/// halfgrad-emulate, which finds races:
///
///     halfgrad-emulate build/cpu/bin/found_inf 4096 17
#include <cuda_runtime.h>

#include "program.h"

namespace {

constexpr int kThreads = 128, kBlocks = 8;

/// `found_inf` is 0 before the launch. Each block looks at a part of the n gradients.
__global__ void check_finite(const float* gradients, int n, float* found_inf) {
  __shared__ bool is_bad[kThreads];
  const int thread = threadIdx.x;
  bool bad = false;
  for (int i = blockIdx.x * kThreads + thread; i < n; i += kBlocks * kThreads) {
    bad = bad || !isfinite(gradients[i]);
  }
  is_bad[thread] = bad;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) is_bad[thread] = is_bad[thread] || is_bad[thread + half];
    __syncthreads();
  }
  // Blocks run in any order: one that found nothing must not write.
  if (thread == 0 && is_bad[0]) atomicExch(found_inf, 1.0f);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return program::usage("found_inf N INDEX_OF_THE_INF, -1 for none");
  const int n = program::integer("N", argv[1], 1, 1 << 26);
  const int bad = program::integer("INDEX_OF_THE_INF", argv[2], -1, n - 1);
  std::vector<float> gradients(n, 0.5f), found_inf(1, 0);
  if (bad >= 0) gradients[bad] = INFINITY;
  float* device_gradients = program::on_device(gradients);
  float* device_found_inf = program::on_device(found_inf);
  check_finite<<<kBlocks, kThreads>>>(device_gradients, n, device_found_inf);
  const float got = program::from_device(device_found_inf, 1)[0], expected = bad >= 0 ? 1 : 0;
  program::check(cudaFree(device_gradients), "cudaFree");
  return got == expected ? program::right() : program::wrong("found_inf", 0, expected, got);
}
