#pragma once

#include <halfgrad/core/array.h>
#include <halfgrad/core/math/random_distributions.h>

/// halfgrad::random on a GPU: the same values as on the CPU, bit for bit.
namespace halfgrad::detail {

void fill_random_on_cuda(const Array& out, const Uniform& distribution, RandomKey key);
void fill_random_on_cuda(const Array& out, const Normal& distribution, RandomKey key);
void fill_random_on_cuda(const Array& out, const Bernoulli& distribution, RandomKey key);
void fill_random_on_cuda(const Array& out, const Integer& distribution, RandomKey key);
Array permutation_on_cuda(std::int64_t n, RandomKey key, Device device);
void dropout_on_cuda(const Array& out, const Array& x, const Keep& keep, RandomKey key);

/// Writes `key` to `base`, where the kernels of a captured graph read it. Queued on the current
/// stream.
void set_random_base_on_cuda(const Array& base, RandomKey key);

}  // namespace halfgrad::detail
