#pragma once

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// Clears the gradient of a parameter, for modules and optimizers: drops it, or sets it to zero in
/// place and detaches it. In place its address stays valid for a captured graph.
inline void zero_grad(Tensor param, bool set_to_none) {
  if (!param.grad().defined()) return;
  Tensor zeros;
  if (!set_to_none) {
    zeros = param.grad().detach();
    zeros.array().fill_(0);
    zeros.array().storage()->bump_version();
  }
  param.set_grad(zeros);
}

}  // namespace halfgrad::detail
