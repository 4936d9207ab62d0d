#include <halfgrad/compat/second_names.h>

#include <numbers>

#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/compat/creation.h>

namespace halfgrad {

Tensor where(const Tensor& condition, Scalar self, Scalar other) {
  const bool is_whole = !self.isFloatingPoint() && !other.isFloatingPoint();
  const TensorOptions options =
      TensorOptions(is_whole ? kLong : get_default_dtype()).device(condition.device());
  return where(condition, full({}, self, options), full({}, other, options));
}

Tensor index_put(const Tensor& self, const std::vector<indexing::TensorIndex>& indices,
                 const Tensor& values, bool accumulate) {
  const auto compute = [&](const Tensor& x, const Tensor& y) {
    return x.clone().index_put_(indices, y, accumulate);
  };
  return detail::composite("index_put", Precision::widest_operand, compute, self, values);
}

Tensor special::ndtr(const Tensor& self) {
  const auto compute = [](const Tensor& x) { return 0.5 * erfc(x * (-1 / std::numbers::sqrt2)); };
  return detail::widened("special_ndtr", Precision::any, kFloat64, compute, self);
}

}  // namespace halfgrad
