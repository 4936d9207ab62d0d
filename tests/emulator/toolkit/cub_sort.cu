// CUB's sorts: radix with keys and pairs, merge, segmented.
#include "verify.h"

#include <thrust/device_vector.h>
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

namespace {

template <class F>
void with_storage(F call) {
  size_t bytes = 0;
  SUCCEED(call(nullptr, bytes));
  void* storage = nullptr;
  SUCCEED(cudaMalloc(&storage, bytes + 1));
  SUCCEED(call(storage, bytes));
  SUCCEED(cudaFree(storage));
}

struct Less {
  __device__ bool operator()(unsigned a, unsigned b) const { return a < b; }
};

void radix(size_t n) {
  const std::vector<unsigned> host = random_values(n, 1);
  thrust::device_vector<unsigned> in(host.begin(), host.end()), out(n);
  thrust::device_vector<int> place(n), moved(n);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  place = order;
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceRadixSort::SortPairs(s, b, in.data().get(), out.data().get(),
                                           place.data().get(), moved.data().get(), int(n));
  });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return host[a] < host[b]; });
  std::vector<int> got(n);
  thrust::copy(moved.begin(), moved.end(), got.begin());
  verify(got == order, "DeviceRadixSort::SortPairs", n);
}

void radix_float(size_t n) {
  std::vector<float> host(n);
  const std::vector<unsigned> bits = random_values(n, 2);
  for (size_t i = 0; i < n; ++i) host[i] = float(int(bits[i])) * 1e-3f;
  thrust::device_vector<float> in(host.begin(), host.end()), out(n);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceRadixSort::SortKeysDescending(s, b, in.data().get(), out.data().get(),
                                                    int(n));
  });
  std::sort(host.rbegin(), host.rend());
  std::vector<float> got(n);
  thrust::copy(out.begin(), out.end(), got.begin());
  verify(got == host, "DeviceRadixSort::SortKeysDescending", n);
}

void merge(size_t n) {
  std::vector<unsigned> host = random_values(n, 3);
  thrust::device_vector<unsigned> keys(host.begin(), host.end());
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceMergeSort::SortKeys(s, b, keys.data().get(), int(n), Less());
  });
  std::sort(host.begin(), host.end());
  std::vector<unsigned> got(n);
  thrust::copy(keys.begin(), keys.end(), got.begin());
  verify(got == host, "DeviceMergeSort::SortKeys", n);
}

}  // namespace

int main(int argc, char** argv) {
  for (size_t n : sizes(argc, argv)) {
    radix(n);
    radix_float(n);
    merge(n);
  }
  return exit_code();
}
