#include <stdexcept>
#include <string>

#include <halfgrad/autograd/ops.h>

namespace halfgrad {

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  return add(self, mul(tensor1, tensor2), value);
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, Scalar value) {
  if (!tensor1.is_floating_point() && !tensor2.is_floating_point()) {
    throw std::invalid_argument("addcdiv: expected a quotient of floating-point numbers, got " +
                                std::string(name(tensor1.dtype())) + " and " +
                                std::string(name(tensor2.dtype())));
  }
  return add(self, div(tensor1, tensor2), value);
}

}  // namespace halfgrad
