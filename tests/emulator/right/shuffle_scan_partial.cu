// Twenty lanes scan by shuffles, named by a mask; the other twelve have left.
#include "../right.h"

__global__ void scan(int* x) {
  const int lane = threadIdx.x;
  if (lane >= 20) return;
  const unsigned mask = (1u << 20) - 1;
  int sum = x[lane];
  for (int step = 1; step < 20; step *= 2) {
    const int other = __shfl_up_sync(mask, sum, step);
    if (lane >= step) sum += other;
  }
  x[lane] = sum;
}

__global__ void segments(int* x) {
  int sum = x[threadIdx.x];
  for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step, 8);
  x[threadIdx.x] = sum;
}

int main() {
  Buffer<int> x(32);
  upload(x.data, std::vector<int>(32, 1));
  scan<<<1, 32>>>(x);
  settle();
  auto host = values(x.data, 32);
  for (int i = 0; i < 20; ++i) EXPECT(host[i] == i + 1);
  for (int i = 20; i < 32; ++i) EXPECT(host[i] == 1);
  segments<<<1, 32>>>(x);
  settle();
  EXPECT(values(x.data, 32)[0] == 36);
  EXPECT(values(x.data, 32)[31] == 8);
}
