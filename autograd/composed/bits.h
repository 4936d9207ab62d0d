#pragma once

#include <halfgrad/autograd/tensor.h>

/// Functions of the bits of integers, elementwise and without gradients. Operands broadcast and
/// promote. Of bool tensors they are the logical functions. All throw std::invalid_argument for
/// floating point, and shifts for bool.
namespace halfgrad {

Tensor bitwise_and(const Tensor& self, const Tensor& other);
Tensor bitwise_and(const Tensor& self, Scalar other);
Tensor bitwise_and(Scalar self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, Scalar other);
Tensor bitwise_or(Scalar self, const Tensor& other);
Tensor bitwise_xor(const Tensor& self, const Tensor& other);
Tensor bitwise_xor(const Tensor& self, Scalar other);
Tensor bitwise_xor(Scalar self, const Tensor& other);
Tensor bitwise_not(const Tensor& self);
/// self * 2^other, modulo 2^bits of the dtype. It is 0 if `other` is negative or not below the
/// number of bits.
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_left_shift(const Tensor& self, Scalar other);
Tensor bitwise_left_shift(Scalar self, const Tensor& other);
/// self / 2^other, rounded down. It is -1 or 0 if `other` is negative or not below the number of
/// bits.
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_right_shift(const Tensor& self, Scalar other);
Tensor bitwise_right_shift(Scalar self, const Tensor& other);

}  // namespace halfgrad
