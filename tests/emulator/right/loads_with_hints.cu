// Loads and stores with hints of caches, prefetches, clocks and special registers.
#include "../right.h"

__global__ void hints(const int* __restrict__ x, int* y, long long* times) {
  const int i = threadIdx.x;
  const long long begin = clock64();
  asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
  int v = __ldg(x + i) + __ldcs(x + i) + __ldca(x + i) + __ldlu(x + i) + __ldcg(x + i);
  int w;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.b32 %0, [%1];" : "=r"(w) : "l"(x + i));
  __stcs(y + i, v + w);
  __stwt(y + 64 + i, __ldcv(x + i));
  unsigned lane, warps;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
  __nanosleep(100);
  times[i] = clock64() - begin;
  y[128 + i] = int(lane);
}

int main() {
  Buffer<int> x(64), y(192);
  Buffer<long long> times(64);
  upload(x.data, std::vector<int>(64, 7));
  hints<<<1, 64>>>(x, y, times);
  settle();
  const auto out = values(y.data, 192);
  EXPECT(out[9] == 42 && out[64 + 9] == 7 && out[128 + 41] == 9);
  for (long long t : values(times.data, 64)) EXPECT(t > 0);
}
