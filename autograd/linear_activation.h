#pragma once

#include <halfgrad/autograd/tensor.h>

/// linear and what usually follows it, as one op: on a GPU the product's kernel also adds the bias
/// and applies the activation, while its result is still in registers.
namespace halfgrad {

/// relu(linear(input, weight, bias)), its bits and its gradients.
Tensor linear_relu(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

/// gelu(linear(input, weight, bias), "tanh"). On a GPU the argument of gelu is not rounded to 16
/// bits in between.
Tensor linear_gelu(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

}  // namespace halfgrad
