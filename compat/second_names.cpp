#include <halfgrad/compat/second_names.h>

#include <numbers>

#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/compat/creation.h>
#include <halfgrad/compat/functions.h>

namespace halfgrad {

Tensor where(const Tensor& condition, Scalar self, Scalar other) {
  const bool is_whole = !self.isFloatingPoint() && !other.isFloatingPoint();
  const TensorOptions options =
      TensorOptions(is_whole ? kLong : get_default_dtype()).device(condition.device());
  return where(condition, full({}, self, options), full({}, other, options));
}

Tensor leaky_relu_(const Tensor& self, Scalar negative_slope) {
  return self.copy_(leaky_relu(self.clone(), negative_slope));
}
Tensor elu_(const Tensor& self, Scalar alpha) { return self.copy_(elu(self.clone(), alpha)); }
Tensor selu_(const Tensor& self) { return self.copy_(selu(self.clone())); }
Tensor celu_(const Tensor& self, double alpha) { return self.copy_(celu(self.clone(), alpha)); }
Tensor silu_(const Tensor& self) { return self.copy_(silu(self.clone())); }
Tensor hardtanh_(const Tensor& self, double min_val, double max_val) {
  return self.copy_(hardtanh(self.clone(), min_val, max_val));
}
Tensor threshold_(const Tensor& self, double threshold, double value) {
  return self.copy_(halfgrad::threshold(self.clone(), threshold, value));
}
Tensor dropout_(const Tensor& self, double p, bool train) {
  return self.copy_(dropout(self.clone(), p, train));
}

Tensor special::ndtr(const Tensor& self) {
  const auto compute = [](const Tensor& x) { return 0.5 * erfc(x * (-1 / std::numbers::sqrt2)); };
  return detail::widened("special_ndtr", Precision::any, kFloat64, compute, self);
}

}  // namespace halfgrad
