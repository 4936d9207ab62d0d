// A scan of one pass: blocks publish sums and prefixes and look back, in the order of tickets.
#include "../right.h"

struct Tile {
  int flag, sum, prefix;
};

__device__ int next_tile;

__global__ void scan(const int* x, int* y, volatile Tile* tiles) {
  __shared__ int values[64], tile, before;
  const int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(&next_tile, 1);
  __syncthreads();
  const int i = tile * 64 + t;
  values[t] = x[i];
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    const int other = t >= step ? values[t - step] : 0;
    __syncthreads();
    values[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    const int own = values[63];
    tiles[tile].sum = own;
    __threadfence();
    tiles[tile].flag = 1;
    int sum = 0;
    for (int back = tile - 1; back >= 0;) {
      const int flag = tiles[back].flag;
      if (flag == 0) continue;
      __threadfence();
      sum += flag == 2 ? tiles[back].prefix : tiles[back].sum;
      back = flag == 2 ? -1 : back - 1;
    }
    tiles[tile].prefix = sum + own;
    __threadfence();
    tiles[tile].flag = 2;
    before = sum;
  }
  __syncthreads();
  y[i] = values[t] + before;
}

int main() {
  const int blocks = 20, n = blocks * 64;
  Buffer<int> x(n), y(n);
  Buffer<Tile> tiles(blocks);
  upload(x.data, std::vector<int>(n, 1));
  scan<<<blocks, 64>>>(x, y, tiles);
  settle();
  const auto out = values(y.data, n);
  for (int i = 0; i < n; ++i) EXPECT(out[i] == i + 1);
}
