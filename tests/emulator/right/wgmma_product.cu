// C = A B^T of 64 rows and k columns by wgmma, one warpgroup. Gpu: h100
#include "../right.h"
#include "../wgmma.h"

__global__ void one_buffer(const __half* a, const __half* b, float* c, int columns) {
  __shared__ __align__(1024) __half tile_a[kTile * kTile], tile_b[kTile * kTile];
  float d[32] = {};
  for (int k = 0; k < columns; k += kTile) {
    load_tile(tile_a, a, columns, k);
    load_tile(tile_b, b, columns, k);
    fence_proxy();
    __syncthreads();
    fence_registers();
    multiply_tiles(d, tile_a, tile_b);
    commit();
    wait<0>();
    __syncthreads();
  }
  store_product(c, d);
}

// The products of one pair of tiles run while the next pair is copied.
__global__ void two_buffers(const __half* a, const __half* b, float* c, int columns) {
  __shared__ __align__(1024) __half tiles_a[2][kTile * kTile], tiles_b[2][kTile * kTile];
  float d[32] = {};
  for (int k = 0, stage = 0; k < columns; k += kTile, stage ^= 1) {
    load_tile(tiles_a[stage], a, columns, k);
    load_tile(tiles_b[stage], b, columns, k);
    fence_proxy();
    __syncthreads();
    fence_registers();
    multiply_tiles(d, tiles_a[stage], tiles_b[stage]);
    commit();
    wait<1>();  // the products before, which read the other stage
    __syncthreads();
  }
  wait<0>();
  store_product(c, d);
}

int main() {
  const int columns = 4 * kTile;
  std::vector<__half> a(kTile * columns), b(kTile * columns);
  for (int i = 0; i < kTile * columns; ++i) {
    a[i] = __float2half(float(i * 7 % 11 - 5));
    b[i] = __float2half(float(i * 5 % 13 - 6));
  }
  Buffer<__half> on_device_a(kTile * columns), on_device_b(kTile * columns);
  upload(on_device_a.data, a);
  upload(on_device_b.data, b);
  for (auto* kernel : {one_buffer, two_buffers}) {
    Buffer<float> c(kTile * kTile);
    kernel<<<1, 128>>>(on_device_a, on_device_b, c, columns);
    settle();
    const std::vector<float> result = values(c.data, kTile * kTile);
    for (int i = 0; i < kTile * kTile; ++i) {
      float expected = 0;
      for (int k = 0; k < columns; ++k) {
        expected +=
            __half2float(a[i / kTile * columns + k]) * __half2float(b[i % kTile * columns + k]);
      }
      EXPECT(result[i] == expected);
    }
  }
}
