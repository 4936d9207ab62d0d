#pragma once

#include <halfgrad/compat/names.h>

#include <vector>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::nn::utils {

/// The elements of all parameters, one after the other.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Writes the elements of `vector` into the parameters, in their order. Throws
/// std::invalid_argument unless their numbers of elements add up to vector.numel().
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters);

}  // namespace halfgrad::nn::utils
