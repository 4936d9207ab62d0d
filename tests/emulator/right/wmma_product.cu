// A warp multiplies halves by wmma, with float sums, over two steps of k.
#include <cuda_fp16.h>
#include <mma.h>

#include "../right.h"

using namespace nvcuda;

__global__ void product(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(left, a + k, 32);
    wmma::load_matrix_sync(right, b + k, 32);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2.0f;
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  std::vector<half> a(16 * 32), b(16 * 32);
  for (int i = 0; i < 16 * 32; ++i) a[i] = __float2half(i % 7), b[i] = __float2half(i % 5 - 2);
  Buffer<half> x(16 * 32), y(16 * 32);
  Buffer<float> z(256);
  upload(x.data, a);
  upload(y.data, b);
  product<<<1, 32>>>(x, y, z);
  settle();
  const auto c = values(z.data, 256);
  for (int r = 0; r < 16; ++r)
    for (int col = 0; col < 16; ++col) {
      float sum = 1;
      for (int k = 0; k < 32; ++k) sum += float((r * 32 + k) % 7) * ((col * 32 + k) % 5 - 2);
      EXPECT(c[r * 16 + col] == 2 * sum);
    }
}
