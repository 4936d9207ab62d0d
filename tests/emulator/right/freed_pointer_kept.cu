// A structure follows the buffer that was replaced.
#include "../planted.h"

struct Rows {
  int* data;
};
__global__ void read(Rows rows, int* out) { out[threadIdx.x] = rows.data[threadIdx.x]; }

int main() {
  int* first = nullptr;
  int* second = nullptr;
  CHECK(cudaMalloc(&first, 128));
  CHECK(cudaMalloc(&second, 256));
  CHECK(cudaMemset(first, 0, 128));
  CHECK(cudaMemset(second, 0, 256));
  Rows rows{first};
  CHECK(cudaFree(first));
  rows.data = second;
  Buffer<int> out(32);
  read<<<1, 32>>>(rows, out);
  cudaDeviceSynchronize();
  cudaFree(second);
  return finish();
}
