#include <halfgrad/autograd/ops/shared/parameter_gradients.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/product.h>

namespace halfgrad::detail {

ParameterGradients parameter_gradients(const Array& dy, const Array& x) {
  const Array dy_t = dy.transpose(0, 1);
  if (const auto both = product_and_row_sums(dy_t, x)) return {both->product, both->row_sums};
  return {mm(Tensor(dy_t), Tensor(x.to(dy.dtype()))).array(), sum(Tensor(dy), {0}).array()};
}

}  // namespace halfgrad::detail
