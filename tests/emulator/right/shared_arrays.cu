// Addresses in several __shared__ arrays: chosen, exchanged, walked backwards, from other arrays'
// contents.
#include "../right.h"

struct Pair {
  float values[32];
  int order[32];
};

__device__ float last_of(const float* array, int size) { return array[size - 1]; }

__global__ void rotate(const float* x, float* y, int rounds, bool second) {
  __shared__ float left[64];
  __shared__ float right[64];
  __shared__ Pair pair;
  __shared__ float grid[8][9];
  left[threadIdx.x] = x[threadIdx.x];
  right[threadIdx.x] = 0;
  if (threadIdx.x < 32) {
    pair.order[threadIdx.x] = 31 - threadIdx.x;
    pair.values[threadIdx.x] = x[threadIdx.x];
  }
  grid[threadIdx.x / 8][threadIdx.x % 8] = x[threadIdx.x];
  __syncthreads();
  float* from = left;
  float* to = right;
  for (int round = 0; round < rounds; ++round) {
    to[threadIdx.x] = from[(threadIdx.x + 1) % 64];
    __syncthreads();
    float* const next = from;
    from = to;
    to = next;
  }
  const float* const chosen = second ? right : left;
  float sum = 0;
  for (const float* at = chosen + 63; at >= chosen + 60; --at) sum += *at;
  // The base of this address is before the array, the address is in it.
  const int offset = static_cast<int>(threadIdx.x) + 64;
  const float* const base = from - 64;
  y[threadIdx.x] = base[offset] + sum + pair.values[pair.order[threadIdx.x % 32]] +
                   grid[threadIdx.x % 8][threadIdx.x / 8] + last_of(second ? left : right, 64);
}

int main() {
  std::vector<float> host(64);
  for (int i = 0; i < 64; ++i) host[i] = static_cast<float>(i);
  Buffer<float> x(64), y(64);
  upload(x.data, host);
  for (int rounds = 0; rounds < 3; ++rounds) {
    rotate<<<1, 64>>>(x, y, rounds, rounds == 1);
    settle();
    std::vector<float> arrays[2] = {host, std::vector<float>(64, 0.0f)};
    int from = 0;
    for (int round = 0; round < rounds; ++round, from ^= 1) {
      for (int i = 0; i < 64; ++i) arrays[from ^ 1][i] = arrays[from][(i + 1) % 64];
    }
    const auto& chosen = arrays[rounds == 1];
    const float sum = chosen[63] + chosen[62] + chosen[61] + chosen[60];
    const auto out = values(y.data, 64);
    for (int i = 0; i < 64; ++i) {
      const float expected = arrays[from][i] + sum + host[31 - i % 32] + host[i % 8 * 8 + i / 8] +
                             arrays[rounds != 1][63];
      EXPECT(out[i] == expected);
    }
  }
}
