// CUB reduces and scans a whole array (a decoupled look-back) and selects from it.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "../right.h"

struct Odd {
  __device__ bool operator()(int x) const { return x % 2 != 0; }
};

int main() {
  const int n = 30001;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 5;
  Buffer<int> x(n), y(n), count(1);
  Buffer<char> storage(1 << 20);
  size_t size = 1 << 20;
  upload(x.data, host);
  CHECK(cub::DeviceReduce::Sum(storage.data, size, x.data, count.data, n));
  EXPECT(values(count.data, 1)[0] == 60000);
  size = 1 << 20;
  CHECK(cub::DeviceScan::InclusiveSum(storage.data, size, x.data, y.data, n));
  int sum = 0;
  auto out = values(y.data, n);
  for (int i = 0; i < n; ++i) EXPECT(out[i] == (sum += host[i]));
  size = 1 << 20;
  CHECK(cub::DeviceSelect::If(storage.data, size, x.data, y.data, count.data, n, Odd{}));
  const int chosen = values(count.data, 1)[0];
  EXPECT(chosen == 12000);
  out = values(y.data, chosen);
  for (int i = 0; i < chosen; ++i) EXPECT(out[i] == (i % 2 == 0 ? 1 : 3));
}
