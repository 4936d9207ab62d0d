#pragma once

#include <halfgrad/autograd/tensor.h>

/// Shared by ops over some dimensions of a tensor. A mask has bit d for every dimension to reduce.
namespace halfgrad::detail {

/// The mask of `dims`; of all dimensions for an empty list. Throws on repeats.
unsigned dims_mask(const Shape& dims, int ndim, const char* op);

Shape reduced_sizes(const Shape& sizes, unsigned mask, bool keepdim);

/// A reduced gradient repeated over the dimensions that were reduced.
Tensor spread(const Tensor& grad, const Shape& sizes, unsigned mask);

/// Throws unless every reduced dimension has an element to choose from.
void expect_elements(const Array& x, unsigned mask, const char* op);

}  // namespace halfgrad::detail
