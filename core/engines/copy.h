#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Sets target[i] = source[i], converted. The shapes are equal; the devices may differ. Between
/// equal dtypes it copies bits, so a NaN keeps its payload.
void copy(const Array& target, const Array& source);

void fill(const Array& target, Scalar value);

}  // namespace halfgrad::detail
