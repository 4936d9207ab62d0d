#pragma once

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

/// Of one parameter, for a module or an optimizer: drops the gradient, or overwrites it with zeros
/// where it lies, so that a captured graph finds it there again, and forgets how it was computed.
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
