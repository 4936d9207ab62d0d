// The sums of one product are read while the next one is under way. Gpu: h100
#include "../right.h"
#include "../wgmma.h"

__global__ void products(const __half* x, float* c) {
  __shared__ __align__(1024) __half tile[kTile * kTile];
  float d[2][32] = {};
  load_tile(tile, x, kTile, 0);
  fence_proxy();
  __syncthreads();
  fence_registers();
  for (int i = 0; i < 2; ++i) {
    multiply_tiles(d[i], tile, tile);
    commit();
  }
  wait<1>();
  store_product(c, d[0]);
  wait<0>();
  store_product(c + kTile * kTile, d[1]);
}

int main() {
  std::vector<__half> host(kTile * kTile);
  for (int i = 0; i < kTile * kTile; ++i) host[i] = __float2half(float(i * 7 % 11 - 5));
  Buffer<__half> x(kTile * kTile);
  Buffer<float> c(2 * kTile * kTile);
  upload(x.data, host);
  products<<<1, 128>>>(x, c);
  settle();
  const std::vector<float> result = values(c.data, 2 * kTile * kTile);
  for (int i = 0; i < kTile * kTile; ++i) {
    float expected = 0;
    for (int k = 0; k < kTile; ++k) {
      expected +=
          __half2float(host[i / kTile * kTile + k]) * __half2float(host[i % kTile * kTile + k]);
    }
    EXPECT(result[i] == expected && result[kTile * kTile + i] == expected);
  }
}
