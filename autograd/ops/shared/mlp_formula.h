#pragma once

#include <halfgrad/autograd/ops/shared/gelu.h>
#include <halfgrad/autograd/ops/shared/relu.h>
#include <halfgrad/core/cuda/kernels/mlp.h>

/// The activation of an MLP as an elementwise op.
namespace halfgrad::detail {

/// Calls f with Relu, Gelu or GeluTanh.
template <class F>
void with_formula(MlpActivation activation, const F& f) {
  if (activation == MlpActivation::relu) return f(Relu());
  if (activation == MlpActivation::gelu) return f(Gelu());
  f(GeluTanh());
}

/// Returns the operand of the activation's derivative: f(z) for relu, z for a gelu.
template <class Formula, class T>
const T& operand_of_slope(const T& z, const T& of_z) {
  return Formula::saves == kSavesOutput ? of_z : z;
}

}  // namespace halfgrad::detail
