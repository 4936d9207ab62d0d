// An allocator hands out memory whose last reader waits in the stream, behind a host function.
#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "../right.h"

__global__ void copy(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }

std::atomic<bool> has_begun = false, goes_on = false;

void CUDART_CB wait_for_the_host(void*) {
  has_begun = true;
  while (!goes_on) std::this_thread::yield();
}

int main() {
  using Forget = void (*)(void*, std::size_t);
  const auto forget =
      reinterpret_cast<Forget>(dlsym(RTLD_DEFAULT, "halfgrad_emulate_forget_contents"));
  EXPECT(forget != nullptr);
  Buffer<int> first(32), block(32), last(32);
  CHECK(cudaMemset(block, 0, 32 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  std::thread other([] { CHECK(cudaLaunchHostFunc(0, wait_for_the_host, nullptr)); });
  while (!has_begun) std::this_thread::yield();
  copy<<<1, 32>>>(block, first);
  forget(block, 32 * sizeof(int));
  CHECK(cudaMemsetAsync(block, 1, 32 * sizeof(int)));
  copy<<<1, 32>>>(block, last);
  goes_on = true;
  other.join();
  CHECK(cudaDeviceSynchronize());
}
