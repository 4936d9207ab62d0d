// Producer warps arrive at named barriers, consumer warps wait at them: full and empty buffers.
#include "../right.h"

__device__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory");
}
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }

__global__ void relay(const int* x, int* y, int tiles) {
  __shared__ int buffer[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int tile = 0; tile < tiles; ++tile) {
      wait(3 + tile % 2);
      buffer[tile % 2][lane] = x[tile * 32 + lane];
      arrive(1 + tile % 2);
    }
  } else {
    arrive(3);
    arrive(4);
    for (int tile = 0; tile < tiles; ++tile) {
      wait(1 + tile % 2);
      y[tile * 32 + lane] = buffer[tile % 2][31 - lane];
      if (tile + 2 < tiles) arrive(3 + tile % 2);
    }
  }
}

int main() {
  std::vector<int> host(6 * 32);
  for (int i = 0; i < 192; ++i) host[i] = i;
  Buffer<int> x(192), y(192);
  upload(x.data, host);
  relay<<<1, 64>>>(x, y, 6);
  settle();
  const auto out = values(y.data, 192);
  for (int i = 0; i < 192; ++i) EXPECT(out[i] == i / 32 * 32 + 31 - i % 32);
}
