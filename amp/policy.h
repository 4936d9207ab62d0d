#pragma once

#include <span>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

/// Autocast's decision for each Precision of precision.h: the whole policy of this library.
namespace halfgrad::amp {

/// The operands to cast, if they are eligible, and the dtype to cast them to.
struct Casts {
  std::span<Tensor> operands;
  DType dtype = kFloat;
};

/// True for tensors that autocast may cast: floating point but not float64, on that device type.
/// Undefined (omitted) operands, integers, bools, doubles and other devices' tensors are not cast.
bool is_eligible(const Tensor& tensor, DeviceType type);

/// The decision for one call of `op` in a region of `type` whose 16-bit type is `fast`.
/// Throws std::runtime_error for an op that is unsafe in 16 bits, and names its safe variant. Also
/// throws if the widest operand decides and the operands are float16 and bfloat16.
Casts decide(const char* op, Precision precision, std::span<Tensor> operands, DeviceType type,
             DType fast);

}  // namespace halfgrad::amp
