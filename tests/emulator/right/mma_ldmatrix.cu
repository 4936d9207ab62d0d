// ldmatrix and mma.sync of 16x8x16 by inline PTX.
#include <cuda_fp16.h>

#include "../right.h"

__global__ void product(const half* a, const half* b, float* c) {
  __shared__ __align__(16) half left[256], right[128];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) left[i] = a[i];
  for (int i = t; i < 128; i += 32) right[i] = b[i];
  __syncwarp();
  unsigned x[4], y[2];
  unsigned where = unsigned(__cvta_generic_to_shared(&left[(t % 16) * 16 + t / 16 * 8]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(where));
  where = unsigned(__cvta_generic_to_shared(&right[(t % 8) * 16 + t / 8 % 2 * 8]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(y[0]), "=r"(y[1])
               : "r"(where));
  float d[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
}

int main() {
  std::vector<half> a(256), b(128);
  for (int i = 0; i < 256; ++i) a[i] = __float2half(i % 9);
  for (int i = 0; i < 128; ++i) b[i] = __float2half(i % 4 - 1);
  Buffer<half> x(256), y(128);
  Buffer<float> z(128);
  upload(x.data, a);
  upload(y.data, b);
  product<<<1, 32>>>(x, y, z);
  settle();
  const auto c = values(z.data, 128);
  for (int r = 0; r < 16; ++r)
    for (int col = 0; col < 8; ++col) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += float((r * 16 + k) % 9) * ((col * 16 + k) % 4 - 1);
      EXPECT(c[r * 8 + col] == sum);
    }
}
