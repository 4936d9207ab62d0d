#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/tensor.h>

/// Short ways to write small tensors in the tests of amp.
namespace halfgrad::amp {

/// For tables.
inline constexpr DType h = kHalf, b = kBFloat16, f = kFloat, d = kDouble, i = kLong;

using Values = std::vector<double>;
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Tensor filled(const Shape& sizes, double value, DType dtype = kFloat) {
  return full(sizes, value, {.dtype = dtype});
}

inline Tensor vector_of(const Values& values, DType dtype = kFloat) {
  return tensor(values, {.dtype = dtype});
}

}  // namespace halfgrad::amp
