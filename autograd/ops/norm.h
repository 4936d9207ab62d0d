#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// out = (sum |x|^p)^(1/p) over the dimensions of `mask`; the number of nonzeros for p = 0, the
/// largest and smallest |x| for p = inf and -inf. `x` is floating point.
void store_norm(const Array& out, const Array& x, double p, unsigned mask);

}  // namespace halfgrad::detail
