#pragma once

#include <array>
#include <concepts>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad::detail {

/// Returns compute(operands...) for the operands converted to a dtype of at least `least`, and
/// rounds the result once, to the floating-point dtype that PyTorch's promotion gives the operands.
/// Integers count as get_default_dtype().
template <class F, std::same_as<Tensor>... In>
Tensor widened(DType least, const F& compute, const In&... operands) {
  const DType promoted = result_type(std::array{operands...});
  const DType dtype = is_floating_point(promoted) ? promoted : get_default_dtype();
  const DType wide = promote_types(dtype, least);
  return to(compute(to(operands, wide)...), dtype);
}

/// widened() for a function that autocast knows by this name and treats as one op.
template <class F, std::same_as<Tensor>... In>
Tensor widened(const char* name, Precision precision, DType least, const F& compute,
               const In&... operands) {
  const auto whole = [&](const auto&... cast) { return widened(least, compute, cast...); };
  return composite(name, precision, whole, operands...);
}

}  // namespace halfgrad::detail
