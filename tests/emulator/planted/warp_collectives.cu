// A shuffle, a vote and a matrix store in place of __syncwarp(): none of them orders memory.
#include <mma.h>

#include "../planted.h"

__global__ void shuffle(int* x) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  const int first = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
  x[threadIdx.x] = first + tile[31 - threadIdx.x];  // expect shuffled: race
}

__global__ void vote(int* x) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (__any_sync(0xffffffffu, x[threadIdx.x] == 0)) {
    x[threadIdx.x] = tile[31 - threadIdx.x];  // expect voted: race
  }
}

// The result of a product goes through shared memory, where other lanes read it.
__global__ void product(const half* a, const half* b, float* c) {
  namespace wmma = nvcuda::wmma;
  __shared__ float tile[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
  for (int i = threadIdx.x; i < 256; i += 32) c[i] = tile[i] + 1;  // expect stored: race
}

int main(int count, char** arguments) {
  static const auto on_integers = [](void (*kernel)(int*)) {
    Buffer<int> x(32);
    kernel<<<1, 32>>>(x);
    CHECK(cudaDeviceSynchronize());
  };
  return run_case(count, arguments,
                  {{"shuffled", [] { on_integers(shuffle); }},
                   {"voted", [] { on_integers(vote); }},
                   {"stored", [] {
                      Buffer<half> a(256), b(256);
                      Buffer<float> c(256);
                      product<<<1, 32>>>(a, b, c);
                      CHECK(cudaDeviceSynchronize());
                    }}});
}
