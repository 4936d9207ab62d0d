#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/relu.h>

namespace halfgrad {
namespace detail {

OpEntry relu_entry() {
  return elementwise_entry(
      Relu{}, [](const Tensor& x) { return relu(x); }, &Tensor::relu, &Tensor::relu_);
}

}  // namespace detail

Tensor relu(const Tensor& self) { return detail::apply_elementwise(detail::Relu{}, self); }
Tensor detail::UnaryMethods::relu() const { return halfgrad::relu(self()); }
Tensor& detail::UnaryMethods::relu_() const { return apply_in_place<Relu>(self(), halfgrad::relu); }

}  // namespace halfgrad
