#pragma once

#include <halfgrad/autograd/tensor.h>

/// linear and an activation as one op. On a GPU the bias and the activation are the epilogue of the
/// product's kernel, so its result stays in registers.
namespace halfgrad {

/// relu(linear(input, weight, bias)), with the same bits and the same gradients.
Tensor linear_relu(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

/// gelu(linear(input, weight, bias), "tanh"). On a GPU the argument of gelu is not rounded to 16
/// bits.
Tensor linear_gelu(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

}  // namespace halfgrad
