// Blocks push and pop a work queue by atomic tickets; a popped item is published by a flag.
#include "../right.h"

__device__ int head, tail;

__global__ void work(int* items, int* ready, int* seen, int capacity) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    for (int k = 0; k < 3; ++k) {
      const int place = atomicAdd(&tail, 1);
      items[place] = k + 1;
      __threadfence();
      atomicExch(&ready[place], 1);
    }
  }
  __shared__ int item;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const int place = atomicAdd(&head, 1);
      item = 0;
      if (place < capacity) {
        while (atomicAdd(&ready[place], 0) == 0) __nanosleep(50);
        __threadfence();
        item = items[place];
      }
    }
    __syncthreads();
    if (item == 0) return;
    if (threadIdx.x == 0) {
      atomicAdd(&seen[item], 1);
      for (int child = 2 * item + 2; child <= 2 * item + 3; ++child) {
        const int place = child < capacity + 1 ? atomicAdd(&tail, 1) : capacity;
        if (place >= capacity) continue;
        items[place] = child;
        __threadfence();
        atomicExch(&ready[place], 1);
      }
    }
  }
}

int main() {
  const int capacity = 61;
  Buffer<int> items(capacity), ready(capacity), seen(2 * capacity + 4);
  work<<<4, 32>>>(items, ready, seen, capacity);
  settle();
  const auto out = values(seen.data, capacity + 1);
  for (int i = 1; i <= capacity; ++i) EXPECT(out[i] == 1);
}
