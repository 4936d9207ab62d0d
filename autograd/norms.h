#pragma once

#include <span>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// out = (sum |x|^p)^(1/p) over the dimensions of `mask`. `x` is floating point.
///
/// For p = 0 that is the count of nonzero elements, for inf the largest |x|, for -inf the smallest.
void store_norm(const Array& out, const Array& x, double p, unsigned mask);

/// out[i] = the norm of all elements of xs[i], rounded to the dtype of xs[i] and then to that of
/// the contiguous `out`.
void store_norms(const Array& out, std::span<const Array> xs, double p);

}  // namespace halfgrad::detail
