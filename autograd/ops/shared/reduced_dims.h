#pragma once

#include <halfgrad/autograd/tensor.h>

/// Functions for ops that reduce some dimensions of a tensor. Bit d of a mask stands for dimension
/// d.
namespace halfgrad::detail {

/// Returns the mask of `dims`; an empty list stands for all dimensions. Throws on repeats.
unsigned dims_mask(const Shape& dims, int ndim, const char* op);

Shape reduced_sizes(const Shape& sizes, unsigned mask, bool keepdim);

/// Expands the gradient of a reduction to the shape of its operand.
Tensor spread(const Tensor& grad, const Shape& sizes, unsigned mask);

/// Throws unless every reduced dimension has an element to choose from.
void expect_elements(const Array& x, unsigned mask, const char* op);

}  // namespace halfgrad::detail
