// Kernels that access memory of another device without the right to. Devices: 2
#include "../planted.h"

__global__ void twice(const int* x, int* y) {
  y[threadIdx.x] = 2 * x[threadIdx.x];  // expect no_peer_access: out-of-bounds
                                        // expect access_of_other_device: out-of-bounds
                                        // expect access_ended: out-of-bounds
                                        // expect pool_without_access: out-of-bounds
}

__global__ void count_up(int* counter) {
  atomicAdd(counter, 1);  // expect atomic_of_gpu: stream-race
                          // expect atomic_of_gpu_on_peer: stream-race
}
__global__ void count_up_for_all(int* counter) {
  atomicAdd_system(counter, 1);  // expect atomics_differ: stream-race
}

template <class Kernel>
void count_on_both(int* counter, Kernel second) {
  CHECK(cudaDeviceSynchronize());
  count_up<<<1, 32>>>(counter);
  CHECK(cudaSetDevice(1));
  second<<<1, 32>>>(counter);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceSynchronize());
}

int* mapped_counter() {
  int* counter = nullptr;
  CHECK(cudaHostAlloc(&counter, sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
  *counter = 0;
  return counter;
}

void atomic_of_gpu() { count_on_both(mapped_counter(), count_up); }

void atomics_differ() { count_on_both(mapped_counter(), count_up_for_all); }

void atomic_of_gpu_on_peer() {
  Buffer<int> counter(1);
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaSetDevice(0));
  count_on_both(counter, count_up);
}

void run_on_second(const int* x) {
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  int* y = nullptr;
  CHECK(cudaMalloc(&y, 32 * sizeof(int)));
  twice<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
}

void no_peer_access() {
  Buffer<int> x(32);
  run_on_second(x);
}

void access_of_other_device() {
  Buffer<int> x(32);
  CHECK(cudaDeviceEnablePeerAccess(1, 0));  // device 0 may access device 1, not the reverse
  run_on_second(x);
}

void access_ended() {
  Buffer<int> x(32);
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  CHECK(cudaDeviceDisablePeerAccess(0));
  CHECK(cudaSetDevice(0));
  run_on_second(x);
}

void pool_without_access() {
  int* x = nullptr;
  CHECK(cudaMallocAsync(&x, 32 * sizeof(int), nullptr));
  CHECK(cudaMemsetAsync(x, 0, 32 * sizeof(int)));
  run_on_second(x);
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"no_peer_access", no_peer_access},
                   {"access_of_other_device", access_of_other_device},
                   {"access_ended", access_ended},
                   {"pool_without_access", pool_without_access},
                   {"atomic_of_gpu", atomic_of_gpu},
                   {"atomics_differ", atomics_differ},
                   {"atomic_of_gpu_on_peer", atomic_of_gpu_on_peer}});
}
