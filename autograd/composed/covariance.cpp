#include <array>
#include <cstdint>

#include <halfgrad/autograd/composed/statistics.h>
#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>

namespace halfgrad {
namespace {

void expect_weights(const char* name, const Tensor& weights, std::int64_t observations,
                    bool integers) {
  if (!weights.defined()) return;
  const bool fits = weights.dim() == 1 && weights.size(0) == observations &&
                    weights.is_floating_point() != integers && weights.dtype() != kBool;
  if (!fits) {
    detail::fail("cov", "expected {} [{}] of {}, got {} of {}", name, observations,
                 integers ? "integers" : "floating point", weights.sizes(), weights.dtype());
  }
  if (observations > 0 && any(weights < 0).item<bool>()) {
    detail::fail("cov", "expected {} of at least 0, got {}", name, amin(weights).item<double>());
  }
}

}  // namespace

//     c_ij = (sum of w_k (x_ik - mean_i) (x_jk - mean_j)) / n
//
// w is the product of the weights, or 1
Tensor cov(const Tensor& self, std::int64_t correction, const Tensor& fweights,
           const Tensor& aweights) {
  if (self.dim() > 2 || self.dtype() == kBool) {
    detail::fail("cov", "expected a matrix or vector of integers or floating point, got {} of {}",
                 self.sizes(), self.dtype());
  }
  const std::int64_t observations = self.dim() == 0 ? 1 : self.size(-1);
  expect_weights("fweights", fweights, observations, true);
  expect_weights("aweights", aweights, observations, false);
  const auto compute = [&](const Tensor& given) {
    const Tensor x = given.dim() == 2 ? given : reshape(given, {1, observations});
    Tensor weights = ones({observations}, x.options());
    if (fweights.defined()) weights = weights * fweights.to(x.dtype());
    if (aweights.defined()) weights = weights * aweights.to(x.dtype());
    const Tensor total = sum(weights);
    Tensor n = total - correction;
    if (aweights.defined()) n = total - correction * sum(weights * aweights) / total;
    if (n.item<double>() < 0) {
      detail::warn("cov: the correction exceeds the observations; the result is divided by 0");
      n = zeros_like(n);
    }
    const Tensor centred = x - sum(x * weights, 1, true) / total;
    const Tensor c = matmul(centred * weights, centred.t()) / n;
    return given.dim() == 2 && x.size(0) != 1 ? c : reshape(c, {});
  };
  const DType dtype =
      aweights.defined() ? promote_types(self.dtype(), aweights.dtype()) : self.dtype();
  return detail::widened("cov", Precision::any, kFloat32, compute, self.to(dtype));
}

Tensor corrcoef(const Tensor& self) {
  const auto compute = [](const Tensor& x) {
    const Tensor c = cov(x);
    if (c.dim() == 0) return c / c;
    const Tensor deviation = sqrt(diagonal(c));
    return clamp(c / unsqueeze(deviation, 1) / unsqueeze(deviation, 0), -1, 1);
  };
  return detail::widened("corrcoef", Precision::any, kFloat32, compute, self);
}

}  // namespace halfgrad
