#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/pending_product.h>
#include <halfgrad/autograd/ops/shared/relu.h>

namespace halfgrad {
namespace detail {
namespace {

struct ReluOp : Elementwise<Relu, 1> {
  void backward(const Backward<1>& node) const {
    if (GradMode::is_enabled()) return Elementwise::backward(node);
    if (node.needs(0)) node.set(0, Tensor(relu_gradient(node.grad(), node.output_array())));
  }
};

}  // namespace

OpEntry relu_entry() {
  return elementwise_entry(
      Relu{}, [](const Tensor& x) { return relu(x); }, &Tensor::relu, &Tensor::relu_);
}

}  // namespace detail

Tensor relu(const Tensor& self) { return detail::apply(detail::ReluOp{}, self); }
Tensor detail::UnaryMethods::relu() const { return halfgrad::relu(self()); }
Tensor& detail::UnaryMethods::relu_() const { return apply_in_place<Relu>(self(), halfgrad::relu); }

}  // namespace halfgrad
