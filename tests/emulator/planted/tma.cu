// Gpu: h100
// Bulk copies of tensors with a mistake each.
#include "../planted.h"
#include "../tma.h"

constexpr int kColumns = 32, kRows = 8, kElements = kColumns * kRows;

/// How a block copies its tile to the output; each case changes one thing.
struct Plan {
  int bytes = kElements * 4;  ///< bytes that the mbarrier waits for
  int tile_offset = 0;        ///< place of the tile in shared memory, in floats
  bool waits = true;
};

__global__ void copy(const __grid_constant__ CUtensorMap map, float* y, Plan plan) {
  extern __shared__ __align__(128) float shared[];
  __shared__ std::uint64_t ready;
  float* const tile = shared + plan.tile_offset;
  if (threadIdx.x == 0) {
    make(&ready, 1);
    expect_bytes(&ready, plan.bytes);
    const int coordinates[] = {0, 0};
    // clang-format off
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, coordinates, &ready);  // expect unaligned: misaligned
    // expect freed: use-after-free
    // expect too_large: out-of-bounds
    // expect no_map: invalid-call
    // expect small_tensor: out-of-bounds
    // clang-format on
  }
  if (plan.waits && threadIdx.x == 0) {
    while (!ptx::mbarrier_try_wait_parity(&ready, 0)) {  // expect wrong_bytes: deadlock
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) {
    y[i] = tile[i];  // expect no_wait: async-copy
  }
}

__global__ void fill(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) float tile[kElements];
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) {
    tile[i] = i;  // expect no_fence: race
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  store(tile, map, 0, 0);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

void run(const CUtensorMap& map, Plan plan = {}) {
  Buffer<float> y(kElements);
  copy<<<1, 32, 2 * kElements * 4>>>(map, y, plan);
  finish();
}

void run(Plan plan) {
  Buffer<float> x(kElements);
  run(map_of(x, kColumns, kRows, kColumns, kRows), plan);
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"unaligned", [] { run({.tile_offset = 4}); }},
                   {"wrong_bytes", [] { run({.bytes = kElements * 2}); }},
                   {"no_wait", [] { run({.waits = false}); }},
                   {"too_large", [] { run({.tile_offset = kElements + 32}); }},
                   {"no_map", [] { run(CUtensorMap{}); }},
                   {"no_fence",
                    [] {
                      Buffer<float> x(kElements);
                      fill<<<1, 32>>>(map_of(x, kColumns, kRows, kColumns, kRows));
                      finish();
                    }},
                   {"small_tensor",
                    [] {
                      Buffer<float> x(kElements - kColumns);
                      run(map_of(x, kColumns, kRows, kColumns, kRows));
                    }},
                   {"freed", [] {
                      float* x = nullptr;
                      CHECK(cudaMalloc(&x, kElements * sizeof(float)));
                      CHECK(cudaMemset(x, 0, kElements * sizeof(float)));
                      const CUtensorMap map = map_of(x, kColumns, kRows, kColumns, kRows);
                      CHECK(cudaFree(x));
                      run(map);
                    }}});
}
