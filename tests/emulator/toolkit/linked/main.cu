// Device code of two sources, linked by nvcc -rdc=true: calls, a variable of the other source, and
// statics and strings of one name.
#include "../verify.h"

extern __device__ int total;
__device__ int twice(int value);
static __device__ int own = 5;
void launch_other(int* out);

__global__ void call_other(int* out) {
  out[threadIdx.x] = twice(int(threadIdx.x)) + own;
  atomicAdd(&total, 1);
  if (threadIdx.x == 0) printf("main\n");
}

int main() {
  int *device, host[64];
  SUCCEED(cudaMalloc(&device, sizeof host));
  call_other<<<1, 32>>>(device);
  launch_other(device + 32);
  SUCCEED(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  SUCCEED(cudaFree(device));
  for (int i = 0; i < 32; ++i) {
    verify(host[i] == 2 * i + 5, "function of the other source", i);
    verify(host[32 + i] == 3 * i + 9 + 7 + 32, "variables of the other source", i);
  }
  return exit_code();
}
