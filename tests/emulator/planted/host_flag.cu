// A kernel waits for the host, which goes on only after the kernel: launches are eager.
#include "../planted.h"

__global__ void wait_for_host(volatile int* flag, int* y) {
  while (*flag == 0) {  // expect: deadlock
  }
  *y = 1;
}

int main() {
  Buffer<int> y(1);
  int* flag = nullptr;
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  wait_for_host<<<1, 1>>>(flag, y);
  *static_cast<volatile int*>(flag) = 1;
  const int code = finish();
  cudaFreeHost(flag);
  return code;
}
