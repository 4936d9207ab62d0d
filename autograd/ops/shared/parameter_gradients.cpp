#include <halfgrad/autograd/ops/shared/parameter_gradients.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/product.h>

namespace halfgrad::detail {

ParameterGradients parameter_gradients(const Array& dy, const Array& x, const Array& weight) {
  const Array dy_t = dy.transpose(0, 1);
  if (const auto both = product_and_row_sums(dy_t, x)) return {both->product, both->row_sums};
  Array dw = weight;
  if (dw.defined()) {
    product(1, dy_t, x.to(dy.dtype()), 0, dw);
  } else {
    dw = mm(Tensor(dy_t), Tensor(x.to(dy.dtype()))).array();
  }
  return {dw, sum(Tensor(dy), {0}).array()};
}

}  // namespace halfgrad::detail
