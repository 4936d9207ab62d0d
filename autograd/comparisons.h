#pragma once

#include <halfgrad/autograd/tensor.h>

/// Comparisons and logic (ops/comparisons.cpp, logic.cpp, isfinite.cpp). They return bool tensors
/// and have no gradient.
namespace halfgrad {

Tensor eq(const Tensor& self, const Tensor& other);
Tensor ne(const Tensor& self, const Tensor& other);
Tensor lt(const Tensor& self, const Tensor& other);
Tensor le(const Tensor& self, const Tensor& other);
Tensor gt(const Tensor& self, const Tensor& other);
Tensor ge(const Tensor& self, const Tensor& other);
Tensor eq(const Tensor& self, Scalar other);
Tensor ne(const Tensor& self, Scalar other);
Tensor lt(const Tensor& self, Scalar other);
Tensor le(const Tensor& self, Scalar other);
Tensor gt(const Tensor& self, Scalar other);
Tensor ge(const Tensor& self, Scalar other);
Tensor logical_and(const Tensor& self, const Tensor& other);
Tensor logical_or(const Tensor& self, const Tensor& other);
Tensor logical_xor(const Tensor& self, const Tensor& other);
Tensor logical_not(const Tensor& self);
Tensor isfinite(const Tensor& self);
Tensor isinf(const Tensor& self);
Tensor isnan(const Tensor& self);
// ops/isclose.cpp
/// True where |self - other| <= atol + rtol * |other|, and for equal infinities; two NaNs are close
/// if equal_nan. Both tensors must have one dtype.
Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);
/// Whether both tensors have one shape and every element is equal.
bool equal(const Tensor& self, const Tensor& other);
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, Scalar b);
Tensor operator!=(const Tensor& a, Scalar b);
Tensor operator<(const Tensor& a, Scalar b);
Tensor operator<=(const Tensor& a, Scalar b);
Tensor operator>(const Tensor& a, Scalar b);
Tensor operator>=(const Tensor& a, Scalar b);
Tensor operator==(Scalar a, const Tensor& b);
Tensor operator!=(Scalar a, const Tensor& b);
Tensor operator<(Scalar a, const Tensor& b);
Tensor operator<=(Scalar a, const Tensor& b);
Tensor operator>(Scalar a, const Tensor& b);
Tensor operator>=(Scalar a, const Tensor& b);
/// Logical not, and, or and xor of bool tensors, and of the bits of integers (composed/bits.h).
/// Throw std::invalid_argument for floating point.
Tensor operator~(const Tensor& a);
Tensor operator&(const Tensor& a, const Tensor& b);
Tensor operator|(const Tensor& a, const Tensor& b);
Tensor operator^(const Tensor& a, const Tensor& b);
Tensor operator&(const Tensor& a, Scalar b);
Tensor operator|(const Tensor& a, Scalar b);
Tensor operator^(const Tensor& a, Scalar b);
Tensor operator&(Scalar a, const Tensor& b);
Tensor operator|(Scalar a, const Tensor& b);
Tensor operator^(Scalar a, const Tensor& b);

}  // namespace halfgrad
