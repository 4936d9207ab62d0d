#pragma once

#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad {

/// A float64 tensor with the given elements in row-major order.
Tensor tensor_of(const std::vector<double>& values, const Shape& sizes);

/// A float64 tensor of elements drawn uniformly from [low, high).
Tensor random_tensor(const Shape& sizes, double low, double high, RandomKey key);

}  // namespace halfgrad
