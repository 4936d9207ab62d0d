// cuRAND's device functions, whose results the same headers' host code cannot give: moments and
// known answers instead.
#include "verify.h"

#include <curand_kernel.h>
#include <cmath>

namespace {

constexpr int kThreads = 256;
constexpr int kDraws = 64;

template <class State>
__global__ void draw(double* moments) {
  State state;
  const int thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  curand_init(1234ULL, thread, 0, &state);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const float u = curand_uniform(&state);
    const float2 z = curand_normal2(&state);
    sum += u;
    squares += double(z.x) * z.x + double(z.y) * z.y;
  }
  atomicAdd(moments, sum);
  atomicAdd(moments + 1, squares);
}

__global__ void known(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(0, 0, 0, &state);
  const uint4 four = curand4(&state);
  out[0] = four.x;
  out[1] = four.y;
  out[2] = four.z;
  out[3] = four.w;
}

template <class State>
void check_moments(const char* name) {
  double *device, host[2];
  SUCCEED(cudaMalloc(&device, sizeof host));
  SUCCEED(cudaMemset(device, 0, sizeof host));
  draw<State><<<2, kThreads / 2>>>(device);
  SUCCEED(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  SUCCEED(cudaFree(device));
  const double count = double(kThreads) * kDraws;
  verify(std::fabs(host[0] / count - 0.5) < 0.01, name, 1);
  verify(std::fabs(host[1] / (2 * count) - 1) < 0.04, name, 2);
}

}  // namespace

int main() {
  check_moments<curandStatePhilox4_32_10_t>("Philox");
  check_moments<curandStateXORWOW_t>("XORWOW");
  check_moments<curandStateMRG32k3a_t>("MRG32k3a");
  unsigned *device, host[4];
  SUCCEED(cudaMalloc(&device, sizeof host));
  known<<<1, 1>>>(device);
  SUCCEED(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  SUCCEED(cudaFree(device));
  // Philox4x32-10 of counter 0 and key 0, from the known answers of Random123.
  const unsigned expected[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) verify(host[i] == expected[i], "Philox of 0", i);
  return exit_code();
}
