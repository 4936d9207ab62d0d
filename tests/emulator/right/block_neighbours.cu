// A second launch reads what neighbour blocks wrote.
#include "../planted.h"

__global__ void produce(int* x) { x[blockIdx.x * 32 + threadIdx.x] = threadIdx.x; }
__global__ void consume(int* x, int* y) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  y[i] = x[(i + 32) % 128];
}

int main() {
  Buffer<int> x(128), y(128);
  produce<<<4, 32>>>(x);
  consume<<<4, 32>>>(x, y);
  return finish();
}
