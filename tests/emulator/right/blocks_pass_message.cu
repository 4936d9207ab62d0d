// Block 0 produces, block 1 consumes through a ring of four slots of cuda::atomic_ref flags.
#include <cuda/atomic>

#include "../right.h"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void ring(int* slots, int* full, int* out, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int s = round % 4;
    int* slot = slots + s * 32;
    Flag flag(full[s]);
    const int wanted = blockIdx.x == 0 ? round / 4 * 2 : round / 4 * 2 + 1;
    if (threadIdx.x == 0)
      while (flag.load(cuda::memory_order_acquire) != wanted) __nanosleep(10);
    __syncthreads();
    if (blockIdx.x == 0)
      slot[threadIdx.x] = round * 32 + threadIdx.x;
    else
      out[round * 32 + threadIdx.x] = slot[31 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) flag.store(wanted + 1, cuda::memory_order_release);
  }
}

int main() {
  Buffer<int> slots(128), full(4), out(320);
  ring<<<2, 32>>>(slots, full, out, 10);
  settle();
  const auto host = values(out.data, 320);
  for (int i = 0; i < 320; ++i) EXPECT(host[i] == i / 32 * 32 + 31 - i % 32);
}
