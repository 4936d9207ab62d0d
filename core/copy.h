#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// target[i] = source[i], converted; shapes equal, on any devices. Between equal dtypes the bits
/// are copied: a NaN keeps its payload.
void copy(const Array& target, const Array& source);

void fill(const Array& target, Scalar value);

}  // namespace halfgrad::detail
