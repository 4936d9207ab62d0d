// Constants, initialised device variables and symbols' addresses and sizes.
#include "../right.h"

struct Settings {
  float scale;
  int offsets[4];
};
__constant__ Settings settings;
__constant__ float table[3] = {1, 10, 100};
__device__ int results[8];
__device__ int start = 7;

__global__ void use() {
  const int i = threadIdx.x;
  results[i] = int(table[i % 3] * settings.scale) + settings.offsets[i % 4] + start;
}

int main() {
  const Settings host = {2.0f, {1, 2, 3, 4}};
  CHECK(cudaMemcpyToSymbol(settings, &host, sizeof(host)));
  const int three = 3;
  CHECK(cudaMemcpyToSymbol(settings, &three, 4, 4 + 2 * 4));
  use<<<1, 8>>>();
  settle();
  int out[8];
  CHECK(cudaMemcpyFromSymbol(out, results, sizeof(out)));
  const int scales[] = {2, 20, 200}, offsets[] = {1, 2, 3, 4};
  for (int i = 0; i < 8; ++i) EXPECT(out[i] == scales[i % 3] + offsets[i % 4] + 7);
  void* address;
  size_t size;
  CHECK(cudaGetSymbolAddress(&address, results));
  CHECK(cudaGetSymbolSize(&size, results));
  EXPECT(size == 32);
  CHECK(cudaMemset(address, 0, size));
  CHECK(cudaMemcpyFromSymbol(out, results, 4, 16));
  EXPECT(out[0] == 0);
}
