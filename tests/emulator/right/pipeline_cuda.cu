// cuda::pipeline of a block with four stages and memcpy_async.
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "../right.h"

__global__ void add_one(const int* x, int* y, int tiles) {
  auto block = cooperative_groups::this_thread_block();
  constexpr int kStages = 4;
  __shared__ int stage[kStages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  int fetched = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    for (; fetched < tiles && fetched < tile + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[fetched % kStages], x + fetched * 128,
                         cuda::aligned_size_t<16>(128 * sizeof(int)), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    y[tile * 128 + block.thread_rank()] = stage[tile % kStages][127 - block.thread_rank()] + 1;
    pipeline.consumer_release();
  }
}

int main() {
  const int tiles = 9;
  std::vector<int> host(tiles * 128);
  for (int i = 0; i < tiles * 128; ++i) host[i] = i;
  Buffer<int> x(tiles * 128), y(tiles * 128);
  upload(x.data, host);
  add_one<<<1, 128>>>(x, y, tiles);
  settle();
  const auto out = values(y.data, tiles * 128);
  for (int i = 0; i < tiles * 128; ++i) EXPECT(out[i] == i / 128 * 128 + 127 - i % 128 + 1);
}
