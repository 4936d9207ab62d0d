// cp.async.cg of 16 bytes by inline PTX, with a tail filled by zeros, three stages.
#include "../right.h"

__device__ void copy(void* shared, const void* global, int bytes) {
  const unsigned address = unsigned(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
               "r"(bytes));
}

__global__ void sum(const float* x, float* y, int n, int tiles) {
  __shared__ __align__(16) float stage[3][128];
  const int t = threadIdx.x;
  auto fetch = [&](int tile) {
    if (tile < tiles) {
      const int left = min(max((n - tile * 128 - t * 4) * 4, 0), 16);
      copy(&stage[tile % 3][t * 4], left > 0 ? x + tile * 128 + t * 4 : x, left);
    }
    asm volatile("cp.async.commit_group;");
  };
  fetch(0);
  fetch(1);
  float total = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fetch(tile + 2);
    for (int k = 0; k < 4; ++k) total += stage[tile % 3][(t + k * 32) % 128];
  }
  asm volatile("cp.async.wait_all;");
  y[t] = total;
}

int main() {
  const int n = 5 * 128 + 50;
  Buffer<float> x(n), y(32);
  upload(x.data, std::vector<float>(n, 1.0f));
  sum<<<1, 32>>>(x, y, n, 6);
  settle();
  float total = 0;
  for (float part : values(y.data, 32)) total += part;
  EXPECT(total == float(n));
}
