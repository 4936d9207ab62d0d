#pragma once

#include <span>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// out = (sum |x|^p)^(1/p) over the dimensions of `mask`; for p = 0 the number of nonzeros, for p =
/// inf and -inf the largest and smallest |x|. `x` is floating point.
void store_norm(const Array& out, const Array& x, double p, unsigned mask);

/// out[i] = the norm of all elements of xs[i], rounded to the dtype of xs[i] first; out is
/// contiguous.
void store_norms(const Array& out, std::span<const Array> xs, double p);

}  // namespace halfgrad::detail
