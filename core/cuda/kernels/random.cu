// Random numbers on GPUs: each thread computes one Philox block, which is 4 floats or 2 doubles.
// Its ten rounds of two multiplications take about 60 instructions for 16 bytes. So memory bounds
// f64 and f32; for 16 bits, memory and arithmetic take about the same time.
//
// The bits are the same as on the CPU, because the same functors compute them
// (core/math/random_distributions.h).
// Never compile this file with --use_fast_math, -ftz=true, -prec-div=false or -prec-sqrt=false.

#include <halfgrad/core/cuda/kernels/random.h>

#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/kernels/sort.h>

namespace halfgrad::detail {
namespace {

constexpr int kThreads = 256;

__device__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class T, class Distribution>
__global__ void fill_blocks(StridedView out, std::int64_t n, Distribution distribution,
                            RandomKey key) {
  const std::int64_t index = thread_index();
  const std::int64_t begin = index * kPerBlock<T>;
  if (begin >= n) return;
  T values[kPerBlock<T>];
  distribution(random_block(key.resolved(), static_cast<std::uint64_t>(index)), values);
#pragma unroll
  for (int k = 0; k < kPerBlock<T>; ++k) {
    if (begin + k < n) out.store(begin + k, values[k]);
  }
}

template <class T, class Distribution>
void fill(const Array& out, const Distribution& distribution, RandomKey key) {
  const std::int64_t n = out.numel();
  if (n == 0) return;
  const Launch launch(out, "random");
  const unsigned blocks = blocks_for(n, kThreads * kPerBlock<T>);
  fill_blocks<T><<<blocks, kThreads, 0, launch.stream()>>>(StridedView(out, out.sizes()), n,
                                                           distribution, key);
  launch.check();
}

template <class Distribution>
void fill_floating_point(const Array& out, const Distribution& distribution, RandomKey key) {
  if (out.dtype() == DType::f64) {
    fill<double>(out, distribution, key);
  } else {
    fill<float>(out, distribution, key);
  }
}

// A thread handles kPerThread elements with two Philox blocks of 4 words.
constexpr int kWords = 4;
static_assert(kPerThread == 2 * kWords);

template <class T>
__global__ void drop(StridedView out, StridedView x, std::int64_t n, bool in_packs, Keep keep,
                     RandomKey key) {
  const std::int64_t index = thread_index();
  const std::int64_t begin = index * kPerThread;
  if (begin >= n) return;
  const bool whole = in_packs && begin + kPerThread <= n;
  T values[kPerThread];
  if (whole) {
    load_pack(x.data, x.dtype, begin, values);
  } else {
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      values[k] = begin + k < n ? x.load<T>(begin + k) : T(0);
    }
  }
  const RandomKey resolved = key.resolved();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const PhiloxBlock block =
        random_block(resolved, static_cast<std::uint64_t>(index) * 2 + static_cast<unsigned>(half));
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      T& value = values[half * kWords + k];
      value = keep(block.word[k], value);
    }
  }
  if (whole) {
    store_pack(out.data, out.dtype, begin, values);
  } else {
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      if (begin + k < n) out.store(begin + k, values[k]);
    }
  }
}

template <class T>
void launch_drop(const Array& out, const Array& x, const Keep& keep, RandomKey key) {
  const std::int64_t n = out.numel();
  const Launch launch(out, "dropout");
  const StridedView to(out, out.sizes()), from(x, out.sizes());
  const unsigned blocks = blocks_for(n, kThreads * kPerThread);
  drop<T><<<blocks, kThreads, 0, launch.stream()>>>(to, from, n, to.in_packs() && from.in_packs(),
                                                    keep, key);
  launch.check();
}

__global__ void write_sort_keys(std::uint64_t* keys, std::int64_t* items, std::int64_t n,
                                RandomKey key) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  keys[i] = sort_key(key.resolved(), i);
  items[i] = i;
}

__global__ void write_base(RandomKey* base, RandomKey key) { *base = key; }

}  // namespace

void fill_random_on_cuda(const Array& out, const Uniform& distribution, RandomKey key) {
  fill_floating_point(out, distribution, key);
}
void fill_random_on_cuda(const Array& out, const Normal& distribution, RandomKey key) {
  fill_floating_point(out, distribution, key);
}
void fill_random_on_cuda(const Array& out, const Bernoulli& distribution, RandomKey key) {
  fill<float>(out, distribution, key);
}
void fill_random_on_cuda(const Array& out, const Integer& distribution, RandomKey key) {
  fill<std::int64_t>(out, distribution, key);
}

Array permutation_on_cuda(std::int64_t n, RandomKey key, Device device) {
  const Array keys = Array::empty({n}, DType::i64, device);
  const Array items = Array::empty({n}, DType::i64, device);
  const Array sorted = Array::empty({n}, DType::i64, device);
  const Array order = Array::empty({n}, DType::i64, device);
  if (n == 0) return order;
  {
    const Launch launch(keys, "randperm");
    write_sort_keys<<<blocks_for(n, kThreads), kThreads, 0, launch.stream()>>>(
        keys.data_as<std::uint64_t>(), items.data_as<std::int64_t>(), n, key);
    launch.check();
  }
  sort_pairs_on_cuda("randperm", keys, items, sorted, order, 64);
  return order;
}

void dropout_on_cuda(const Array& out, const Array& x, const Keep& keep, RandomKey key) {
  if (out.numel() == 0) return;
  if (x.dtype() == DType::f64) {
    launch_drop<double>(out, x, keep, key);
  } else {
    launch_drop<float>(out, x, keep, key);
  }
}

void set_random_base_on_cuda(const Array& base, RandomKey key) {
  const Launch launch(base, "replay");
  write_base<<<1, 1, 0, launch.stream()>>>(base.data_as<RandomKey>(), key);
  launch.check();
}

}  // namespace halfgrad::detail
