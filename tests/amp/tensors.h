#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Tensors that the tests of amp write by hand.
namespace halfgrad::amp {

/// For tables.
inline constexpr DType h = kHalf, b = kBFloat16, f = kFloat, d = kDouble, i = kLong;

using Values = std::vector<double>;
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Tensor filled(const Shape& sizes, double value, DType dtype = kFloat) {
  return Tensor(Array::full(sizes, value, dtype));
}

inline Tensor vector_of(const Values& values, DType dtype = kFloat) {
  const Array result = Array::empty({static_cast<std::int64_t>(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), result.data_as<double>());
  return Tensor(result.to(dtype).clone());
}

}  // namespace halfgrad::amp
