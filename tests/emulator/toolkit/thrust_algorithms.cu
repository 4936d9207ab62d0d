// Thrust's sorts, scans, reductions, set operations, iterators and policies.
#include "verify.h"

#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <algorithm>
#include <numeric>

namespace {

struct Body {
  float mass;
  double x;
  short kind;
};

struct Mass {
  __host__ __device__ float operator()(const Body& body) const { return body.mass; }
};

struct Even {
  __host__ __device__ bool operator()(int value) const { return value % 2 == 0; }
};

struct Square {
  __host__ __device__ long operator()(long value) const { return value * value; }
};

std::vector<int> read(const thrust::device_vector<int>& values, size_t size) {
  std::vector<int> host(size);
  thrust::copy(values.begin(), values.begin() + size, host.begin());
  return host;
}

std::vector<int> small_values(size_t n, unsigned seed) {
  const std::vector<unsigned> bits = random_values(n, seed);
  std::vector<int> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = int(bits[i] % 1000) - 500;
  return values;
}

void sorts(size_t n) {
  std::vector<int> host = small_values(n, 5);
  thrust::device_vector<int> keys(host.begin(), host.end()), places(n);
  thrust::sequence(places.begin(), places.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin(), thrust::greater<int>());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return host[a] > host[b]; });
  verify(read(places, n) == order, "stable_sort_by_key", n);
  thrust::sort(thrust::cuda::par_nosync, keys.begin(), keys.end());
  std::sort(host.begin(), host.end());
  verify(read(keys, n) == host, "sort, par_nosync", n);
  const size_t kept = thrust::unique(keys.begin(), keys.end()) - keys.begin();
  host.erase(std::unique(host.begin(), host.end()), host.end());
  verify(kept == host.size() && read(keys, kept) == host, "unique", n);
}

void reductions(size_t n) {
  const std::vector<int> host = small_values(n, 6);
  thrust::device_vector<int> values(host.begin(), host.end()), sums(n);
  verify(
      thrust::reduce(values.begin(), values.end()) == std::accumulate(host.begin(), host.end(), 0),
      "reduce", n);
  thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
  std::vector<int> expected(n);
  std::partial_sum(host.begin(), host.end(), expected.begin());
  verify(read(sums, n) == expected, "inclusive_scan", n);
  const long squares = thrust::transform_reduce(thrust::counting_iterator<long>(0),
                                                thrust::counting_iterator<long>(long(n)), Square(),
                                                0L, thrust::plus<long>());
  const long last = long(n) - 1;
  verify(squares == last * (last + 1) * (2 * last + 1) / 6, "transform_reduce", n);
  verify(thrust::count_if(values.begin(), values.end(), Even()) ==
             std::count_if(host.begin(), host.end(), Even()),
         "count_if", n);
}

void structs(size_t n) {
  std::vector<Body> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = {float(i % 7), double(i), short(i)};
  thrust::device_vector<Body> bodies(host.begin(), host.end());
  const float mass =
      thrust::transform_reduce(bodies.begin(), bodies.end(), Mass(), 0.0f, thrust::plus<float>());
  float expected = 0;
  for (const Body& body : host) expected += body.mass;
  verify(mass == expected, "device_vector of structs", n);
}

void sets(size_t n) {
  std::vector<int> a = small_values(n, 7), b = small_values(n / 2, 8);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  thrust::device_vector<int> first(a.begin(), a.end()), second(b.begin(), b.end()), out(n + n);
  std::vector<int> expected;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
  size_t size = thrust::set_difference(first.begin(), first.end(), second.begin(), second.end(),
                                       out.begin()) -
                out.begin();
  verify(size == expected.size() && read(out, size) == expected, "set_difference", n);
  expected.clear();
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
  size = thrust::merge(first.begin(), first.end(), second.begin(), second.end(), out.begin()) -
         out.begin();
  verify(size == expected.size() && read(out, size) == expected, "merge", n);
}

void partitions(size_t n) {
  std::vector<int> host = small_values(n, 9);
  thrust::device_vector<int> values(host.begin(), host.end());
  const size_t even =
      thrust::stable_partition(values.begin(), values.end(), Even()) - values.begin();
  std::stable_partition(host.begin(), host.end(), Even());
  verify(read(values, n) == host, "stable_partition", n);
  verify(long(even) == std::count_if(host.begin(), host.end(), Even()), "partition point", n);
}

}  // namespace

int main(int argc, char** argv) {
  for (size_t n : sizes(argc, argv)) {
    sorts(n);
    reductions(n);
    structs(n);
    sets(n);
    partitions(n);
  }
  return exit_code();
}
