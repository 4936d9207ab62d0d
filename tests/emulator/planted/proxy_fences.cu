// Gpu: h100
// Fences between stores and bulk copies that are missing, or in the wrong place.
#include "../planted.h"
#include "../tma.h"

constexpr int kCount = 256, kThreads = 64;

enum class Fence { before_store, by_bystander };

template <Fence Where>
__global__ void stores_tile(float* y) {
  __shared__ alignas(128) float tile[kCount];
  if (Where == Fence::before_store) ptx::fence_proxy_async(ptx::space_shared);
  for (int i = threadIdx.x; i < kCount; i += kThreads) {
    tile[i] = i;  // expect fence_before_store: race
    // expect fence_by_bystander: race
  }
  __syncthreads();
  if (Where == Fence::by_bystander && threadIdx.x == 33) ptx::fence_proxy_async(ptx::space_shared);
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, tile, sizeof tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

// The fence is for the inits of its own thread only.
template <bool FenceOfIssuer>
__global__ void loads_tile(const float* x, float* y) {
  __shared__ alignas(128) float tile[kCount];
  __shared__ std::uint64_t ready;
  if (threadIdx.x == 0) ptx::mbarrier_init(&ready, 1);
  __syncthreads();
  if (threadIdx.x == 32) {
    if (FenceOfIssuer) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    expect_bytes(&ready, sizeof tile);
    // clang-format off
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof tile, &ready);  // expect init_no_fence: race
    // expect init_fence_of_issuer: race
    // clang-format on
  }
  wait(&ready, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void loads_own_results(float* x, float* y) {
  __shared__ alignas(128) float tile[kCount];
  __shared__ std::uint64_t ready;
  if (threadIdx.x == 0) make(&ready, 1);
  for (int i = threadIdx.x; i < kCount; i += kThreads) x[i] = i;  // expect global_no_fence: race
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(&ready, sizeof tile);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof tile, &ready);
  }
  wait(&ready, 0);
  y[threadIdx.x] = tile[threadIdx.x];
}

template <Fence Where>
void run_stores() {
  Buffer<float> y(kCount);
  stores_tile<Where><<<1, kThreads>>>(y);
  finish();
}

template <bool FenceOfIssuer>
void run_loads() {
  Buffer<float> x(kCount), y(kCount);
  loads_tile<FenceOfIssuer><<<1, kThreads>>>(x, y);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"fence_before_store", run_stores<Fence::before_store>},
                   {"fence_by_bystander", run_stores<Fence::by_bystander>},
                   {"init_no_fence", run_loads<false>},
                   {"init_fence_of_issuer", run_loads<true>},
                   {"global_no_fence", [] {
                      Buffer<float> x(kCount), y(kCount);
                      loads_own_results<<<1, kThreads>>>(x, y);
                      finish();
                    }}});
}
