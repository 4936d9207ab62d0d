#include <halfgrad/compat/creation.h>

#include <array>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

void check_deviation(double std) {
  if (!(std >= 0))
    detail::fail("normal", "expected a standard deviation of at least 0, got {}", std);
}

}  // namespace

Tensor scalar_tensor(Scalar value, const TensorOptions& options) {
  return full({}, value, options.dtype(options.dtype()));
}

Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base,
                const TensorOptions& options) {
  const TensorOptions in_double = options.requires_grad(false).dtype(kDouble);
  return pow(base, linspace(start, end, steps, in_double))
      .to(options.dtype())
      .requires_grad_(options.requires_grad());
}

Tensor normal(double mean, double std, const Shape& sizes, const TensorOptions& options) {
  check_deviation(std);
  const NoGradGuard no_grad;
  return empty(sizes, options).normal_(mean, std);
}

Tensor normal(const Tensor& mean, double std) {
  check_deviation(std);
  const NoGradGuard no_grad;
  return mean + randn_like(mean) * std;
}

Tensor normal(double mean, const Tensor& std) { return normal(full_like(std, mean), std); }

Tensor normal(const Tensor& mean, const Tensor& std) {
  const NoGradGuard no_grad;
  if (!(std >= 0).all().item<bool>()) {
    detail::fail("normal", "expected standard deviations of at least 0, got others");
  }
  const Tensor scale = std.expand(broadcast_shapes(mean.sizes(), std.sizes(), "normal"));
  return mean + randn_like(scale.contiguous()) * scale;
}

Tensor randint_like(const Tensor& self, std::int64_t high) { return randint_like(self, 0, high); }
Tensor randint_like(const Tensor& self, std::int64_t low, std::int64_t high) {
  const NoGradGuard no_grad;
  return empty_like(self).random_(low, high);
}

Tensor bernoulli(const Tensor& self) {
  const NoGradGuard no_grad;
  if (!((self >= 0).logical_and(self <= 1)).all().item<bool>()) {
    detail::fail("bernoulli", "expected probabilities in [0, 1], got others");
  }
  // Uniform float32 values, so that 16-bit probabilities are not compared with rounded ones.
  const DType wide = self.dtype() == kDouble ? kDouble : kFloat;
  return (rand_like(self, wide) < self.to(wide)).to(self.dtype());
}

Tensor bernoulli(const Tensor& self, double p) {
  const NoGradGuard no_grad;
  return empty_like(self).bernoulli_(p);
}

bool is_nonzero(const Tensor& self) { return self.is_nonzero(); }

DType result_type(const Tensor& a, const Tensor& b) {
  return detail::result_type(std::array{a, b});
}

DType result_type(const Tensor& a, Scalar b) { return result_type(a, detail::wrap(b, a.device())); }
DType result_type(Scalar a, const Tensor& b) { return result_type(b, a); }

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
                          Reduction reduction, std::int64_t ignore_index, double label_smoothing) {
  return cross_entropy(self, target,
                       {.weight = weight,
                        .ignore_index = ignore_index,
                        .reduction = reduction,
                        .label_smoothing = label_smoothing});
}

}  // namespace halfgrad
