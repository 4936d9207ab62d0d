// CUB's device-wide reductions, scans, selections, histograms and run lengths.
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

template <class T>
std::vector<T> read(const thrust::device_vector<T>& values) {
  std::vector<T> host(values.size());
  thrust::copy(values.begin(), values.end(), host.begin());
  return host;
}

struct IsOdd {
  __host__ __device__ bool operator()(unsigned a) const { return a % 2 == 1; }
};

struct Case {
  size_t n;
  std::vector<unsigned> host;
  thrust::device_vector<unsigned> in, out;
  thrust::device_vector<int> count;
  explicit Case(size_t size)
      : n(size), host(random_values(size, 4)), in(size), out(size), count(1) {
    for (unsigned& value : host) value %= 5;
    in = host;
  }
};

void reduce(Case& c) {
  thrust::device_vector<unsigned> sum(1);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceReduce::Sum(s, b, c.in.data().get(), sum.data().get(), int(c.n));
  });
  verify(sum[0] == std::accumulate(c.host.begin(), c.host.end(), 0u), "DeviceReduce::Sum", c.n);
  if (c.n == 0) return;
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceReduce::Max(s, b, c.in.data().get(), sum.data().get(), int(c.n));
  });
  verify(sum[0] == *std::max_element(c.host.begin(), c.host.end()), "DeviceReduce::Max", c.n);
}

void scan(Case& c) {
  std::vector<unsigned> expected(c.n);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceScan::InclusiveSum(s, b, c.in.data().get(), c.out.data().get(), int(c.n));
  });
  std::partial_sum(c.host.begin(), c.host.end(), expected.begin());
  verify(read(c.out) == expected, "DeviceScan::InclusiveSum", c.n);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceScan::ExclusiveSum(s, b, c.in.data().get(), c.out.data().get(), int(c.n));
  });
  for (size_t i = 0; i < c.n; ++i) expected[i] -= c.host[i];
  verify(read(c.out) == expected, "DeviceScan::ExclusiveSum", c.n);
}

void select(Case& c) {
  std::vector<unsigned> expected;
  for (unsigned value : c.host)
    if (IsOdd()(value)) expected.push_back(value);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceSelect::If(s, b, c.in.data().get(), c.out.data().get(), c.count.data().get(),
                                 int(c.n), IsOdd());
  });
  std::vector<unsigned> got = read(c.out);
  const int kept = c.count[0];
  verify(kept == int(expected.size()) && std::equal(expected.begin(), expected.end(), got.begin()),
         "DeviceSelect::If", c.n);
  with_storage([&](void* s, size_t& b) {
    return cub::DevicePartition::If(s, b, c.in.data().get(), c.out.data().get(),
                                    c.count.data().get(), int(c.n), IsOdd());
  });
  got = read(c.out);
  verify(c.count[0] == kept && std::equal(expected.begin(), expected.end(), got.begin()),
         "DevicePartition::If", c.n);
}

void runs(Case& c) {
  thrust::device_vector<int> lengths(c.n);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(s, b, c.in.data().get(), c.out.data().get(),
                                              lengths.data().get(), c.count.data().get(), int(c.n));
  });
  std::vector<unsigned> values;
  std::vector<int> expected;
  for (unsigned value : c.host) {
    if (values.empty() || values.back() != value) values.push_back(value), expected.push_back(0);
    ++expected.back();
  }
  const std::vector<int> got = read(lengths);
  verify(
      c.count[0] == int(values.size()) && std::equal(expected.begin(), expected.end(), got.begin()),
      "DeviceRunLengthEncode::Encode", c.n);
}

void histogram(Case& c) {
  thrust::device_vector<int> bins(5);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(s, b, c.in.data().get(), bins.data().get(), 6, 0u,
                                               5u, int(c.n));
  });
  std::vector<int> expected(5);
  for (unsigned value : c.host) ++expected[value];
  verify(read(bins) == expected, "DeviceHistogram::HistogramEven", c.n);
}

void segments(Case& c) {
  const size_t width = 37;
  const size_t count = c.n / width;
  if (count == 0) return;
  std::vector<int> offsets(count + 1);
  for (size_t i = 0; i <= count; ++i) offsets[i] = int(i * width);
  thrust::device_vector<int> bounds(offsets.begin(), offsets.end());
  thrust::device_vector<unsigned> sums(count);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(s, b, c.in.data().get(), sums.data().get(), int(count),
                                           bounds.data().get(), bounds.data().get() + 1);
  });
  std::vector<unsigned> expected(count);
  for (size_t i = 0; i < count * width; ++i) expected[i / width] += c.host[i];
  verify(read(sums) == expected, "DeviceSegmentedReduce::Sum", c.n);
}

}  // namespace

int main(int argc, char** argv) {
  for (size_t n : sizes(argc, argv)) {
    Case c(n);
    reduce(c);
    scan(c);
    select(c);
    runs(c);
    histogram(c);
    segments(c);
  }
  return exit_code();
}
