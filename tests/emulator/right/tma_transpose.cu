// Gpu: h100
// A transpose with a swizzle of 128 bytes: rows and columns of a tile are free of bank conflicts.
#include "../right.h"
#include "../tma.h"

constexpr int kTile = 32;

// The place of an element in a tile that TMA swizzles: chunks of four floats.
__device__ int place(int row, int column) {
  return row * kTile + ((column / 4 ^ row % 8) * 4 + column % 4);
}

__global__ void transpose(const __grid_constant__ CUtensorMap from,
                          const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(1024) float in[kTile * kTile], out[kTile * kTile];
  __shared__ std::uint64_t ready;
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  if (threadIdx.x == 0) {
    make(&ready, 1);
    expect_bytes(&ready, sizeof in);
    load(in, from, x, y, &ready);
  }
  __syncthreads();
  wait(&ready, 0);
  for (int row = threadIdx.x / kTile; row < kTile; row += blockDim.x / kTile) {
    const int column = threadIdx.x % kTile;
    out[place(row, column)] = in[place(column, row)];
  }
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, to, y, x);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}

int main() {
  const int columns = 72, rows = 100;
  Buffer<float> x(columns * rows), y(columns * rows);
  std::vector<float> input(columns * rows), expected(columns * rows);
  for (int i = 0; i < columns * rows; ++i) {
    input[i] = i;
    expected[i % columns * rows + i / columns] = i;
  }
  upload<float>(x, input);
  const auto swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  transpose<<<dim3(3, 4), 256>>>(map_of(x, columns, rows, kTile, kTile, swizzle),
                                 map_of(y, rows, columns, kTile, kTile, swizzle));
  settle();
  EXPECT(values<float>(y, columns * rows) == expected);
}
