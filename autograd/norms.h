#pragma once

#include <span>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// out = (sum |x|^p)^(1/p) over the dimensions of `mask`; the number of nonzeros for p = 0, the
/// largest and smallest |x| for p = inf and -inf. `x` is floating point.
void store_norm(const Array& out, const Array& x, double p, unsigned mask);

/// out[i] = the norm of all elements of xs[i], rounded to its own dtype first; out is contiguous.
void store_norms(const Array& out, std::span<const Array> xs, double p);

}  // namespace halfgrad::detail
