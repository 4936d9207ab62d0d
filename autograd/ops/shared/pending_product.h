#pragma once

#include <halfgrad/autograd/tensor.h>

/// relu's gradient as the epilogue of a product.
///
/// In a network of linear layers with relu between them, a backward pass computes
///
///     dY = dZ' W'        the linear layer after relu: dZ' is its gradient, W' its weight
///     dZ = dY  where Y > 0 or Y is NaN, else 0        relu, whose output is Y
///
/// One kernel can do both. So linear's backward returns dY as a tensor whose elements are computed
/// when something looks at them, and relu's backward computes dZ instead, if dY has waited for it
/// (graph/waiting_gradient.h).
namespace halfgrad::detail {

/// Returns a b, computed when something looks at it, for a contiguous a [..., n] and b [n, k]. The
/// backward pass settles it before anything can change an operand.
Tensor pending_product(const Array& a, const Array& b);

/// Returns the gradient of relu's operand: dy where y, relu's output, is > 0 or NaN, else 0. If
/// `dy` is a pending product that nothing else refers to, it is never computed: its memory becomes
/// the result's. `mask`: the relu_mask() that forward stored, or undefined.
Array relu_gradient(const Tensor& dy, const Array& y, const Array& mask = {});

}  // namespace halfgrad::detail
