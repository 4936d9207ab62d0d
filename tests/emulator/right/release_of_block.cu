// A cuda::atomic_ref of device scope passes data to another block.
#include <cuda/atomic>

#include "../planted.h"

__global__ void pass(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    ready.store(1, cuda::memory_order_release);  // expect: race
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {  // expect: race
    }
    *out = *data;
  }
}

int main() {
  Buffer<int> data(1), flag(1), out(1);
  pass<<<2, 1>>>(data, flag, out);
  return finish();
}
