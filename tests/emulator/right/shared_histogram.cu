// A histogram in dynamic shared memory, added to the global one, with bins that stay empty.
#include "../right.h"

__global__ void histogram(const unsigned char* x, int n, unsigned* bins) {
  extern __shared__ unsigned counts[];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[x[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (counts[b] > 0) atomicAdd(&bins[b], counts[b]);
}

int main() {
  const int n = 3001;
  std::vector<unsigned char> host(n);
  std::vector<unsigned> wanted(256);
  for (int i = 0; i < n; ++i) ++wanted[host[i] = static_cast<unsigned char>(i * i % 200)];
  Buffer<unsigned char> x(n);
  Buffer<unsigned> bins(256);
  upload(x.data, host);
  histogram<<<5, 96, 256 * sizeof(unsigned)>>>(x, n, bins);
  settle();
  EXPECT(values(bins.data, 256) == wanted);
}
