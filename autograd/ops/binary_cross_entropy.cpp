#include <cstdint>

#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/loss.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = -(t log p + (1 - t) log(1 - p)), elementwise, then reduced; p and t of one shape
// dy/dp = (p - t) / (p (1 - p)),  dy/dt = log(1 - p) - log p
// As in PyTorch, a logarithm is at least -100 and the divisor p (1 - p) at least 1e-12.
struct BinaryCrossEntropy : LossDefaults {
  static constexpr auto name = "binary_cross_entropy";
  static constexpr auto precision = Precision::unsafe;

  template <class T>
  HG_HD T value(T p, T target) const {
    return (target - T(1)) * bounded_log1m(p) - target * bounded_log(p);
  }
  template <class T>
  HG_HD T slope_a(T p, T target, T) const {
    return (p - target) / math::maximum((T(1) - p) * p, T(1e-12));
  }
  template <class T>
  HG_HD T slope_b(T p, T, T) const {
    return bounded_log1m(p) - bounded_log(p);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded p, Bounded t) {
    const Bounded log_p = a.at_least(a.log(p), -100),
                  log_rest = a.at_least(a.log1p(a.neg(p)), -100);
    return a.sub(a.mul(a.sub(t, a.number(1)), log_rest), a.mul(t, log_p));
  }

 private:
  template <class T>
  HG_HD static T bounded_log(T p) {
    return math::maximum(math::log(p), T(-100));
  }
  template <class T>
  HG_HD static T bounded_log1m(T p) {
    return math::maximum(math::log1p(-p), T(-100));
  }
};

Shape without_ones(const Shape& sizes) {
  Shape rest;
  for (const std::int64_t size : sizes) {
    if (size != 1) rest.push_back(size);
  }
  return rest;
}

// `target` in the shape of `self`. The two may differ by dimensions of size 1, as in libtorch: [n]
// for [n, 1].
Tensor in_shape_of(const Tensor& self, const Tensor& target) {
  if (self.sizes() == target.sizes()) return target;
  if (without_ones(self.sizes()) == without_ones(target.sizes())) {
    return target.reshape(self.sizes());
  }
  fail("binary_cross_entropy", "expected a target of shape {}, got {}", self.sizes(),
       target.sizes());
}

// Checks on the CPU only, as on a GPU the host would have to wait. A finite value outside [0, 1]
// gives a finite but wrong loss; inf and NaN show in the loss itself.
void expect_probabilities(const char* what, const Tensor& tensor) {
  if (tensor.device().is_cuda()) return;
  const NoGradGuard no_grad;
  const Tensor outside = logical_or(lt(tensor, 0), gt(tensor, 1));
  if (!any(logical_and(outside, isfinite(tensor))).item<bool>()) return;
  fail("binary_cross_entropy",
       "expected {} between 0 and 1, got others; for logits call binary_cross_entropy_with_logits",
       what);
}

}  // namespace

OpEntry binary_cross_entropy_entry() {
  return loss_entry<BinaryCrossEntropy>(
      [](const Tensor& x, const Tensor& t, Reduction r) {
        return binary_cross_entropy(x, t, {}, r);
      },
      BinaryCrossEntropy::reference, 0.1, 0.9);
}

}  // namespace detail

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
  const Tensor shaped = detail::in_shape_of(self, target);
  detail::expect_probabilities("probabilities", self);
  detail::expect_probabilities("targets", shaped);
  return detail::weighted_loss(detail::BinaryCrossEntropy{}, reduction, weight, self, shaped);
}

}  // namespace halfgrad
