#pragma once

#include <cstdint>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// Splits the channels of input [n, c, ...] into num_groups groups of consecutive channels.
/// Normalizes each group of each sample to mean 0 and variance 1. Then weight and bias [c] scale
/// and shift each channel (Wu and He, "Group normalization", 2018):
///
///     y = (x - mean) / sqrt(var + eps) weight + bias,  mean and var over a group of one sample
///
/// The batch does not matter, so training and evaluation compute the same. 1 group is layer_norm
/// over [c, ...], and c groups normalize each channel alone. Computed in float32 at least and
/// rounded once to the dtype of input; autocast runs it in float32. Throws std::invalid_argument
/// unless num_groups divides c. weight and bias are float64 if and only if input is.
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

}  // namespace halfgrad
