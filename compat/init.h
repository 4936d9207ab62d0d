#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <tuple>

#include <halfgrad/nn/init.h>

/// Functions of torch::nn::init that nn/init.h lacks.
namespace halfgrad::nn::init {

/// Normal values with this deviation, of which the fraction `sparsity` of each column, rounded up,
/// is 0 in rows drawn at random. Throws std::invalid_argument unless two-dimensional, and for a
/// sparsity outside [0, 1].
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

/// libtorch's name for calculate_fan_in_and_fan_out().
inline std::tuple<std::int64_t, std::int64_t> _calculate_fan_in_and_fan_out(  // NOLINT
    const Tensor& tensor) {
  return calculate_fan_in_and_fan_out(tensor);
}

}  // namespace halfgrad::nn::init
