#include <cstdio>

__device__ int total = 7;
static __device__ int own = 9;

__device__ int twice(int value) { return 2 * value; }

__global__ void read_variables(int* out) {
  out[threadIdx.x] = 3 * int(threadIdx.x) + own + total;
  if (threadIdx.x == 0) printf("other\n");
}

void launch_other(int* out) { read_variables<<<1, 32>>>(out); }
