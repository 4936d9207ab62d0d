// A spin lock of cuda::atomic, acquired and released; threads of a warp compete for it too.
#include <cuda/atomic>

#include "../right.h"

__device__ cuda::atomic<int, cuda::thread_scope_device> lock;
__device__ int counter;

__global__ void count() {
  bool done = false;
  while (!done) {
    int expected = 0;
    if (lock.compare_exchange_strong(expected, 1, cuda::std::memory_order_acquire)) {
      counter += 1;
      lock.store(0, cuda::std::memory_order_release);
      done = true;
    }
  }
}

int main() {
  count<<<4, 48>>>();
  settle();
  int host = 0;
  CHECK(cudaMemcpyFromSymbol(&host, counter, sizeof(host)));
  EXPECT(host == 192);
}
