#include <cmath>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/loss_entry.h>
#include <halfgrad/autograd/ops/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// -(t log p + (1 - t) log(1 - p)), the logarithms not below -100, the slope's divisor not below
// 1e-12, as in PyTorch.
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

// Of a finite number that is none the loss would be finite, and wrong; inf and NaN show by
// themselves. On a GPU nobody looks: the host would have to wait for the answer.
void expect_probabilities(const char* what, const Tensor& tensor) {
  if (tensor.device().is_cuda()) return;
  const NoGradGuard no_grad;
  const Tensor outside = logical_or(tensor<Scalar(0), tensor> Scalar(1));
  if (!any(logical_and(outside, isfinite(tensor))).item<bool>()) return;
  throw std::invalid_argument(std::string("binary_cross_entropy: expected ") + what +
                              " between 0 and 1, got others; of logits take "
                              "binary_cross_entropy_with_logits");
}

}  // namespace

OpEntry binary_cross_entropy_entry() {
  return loss_entry<BinaryCrossEntropy>(
      [](const Tensor& x, const Tensor& t, Reduction r) {
        return binary_cross_entropy(x, t, {}, r);
      },
      [](double p, double t) { return -t * std::log(p) - (1 - t) * std::log(1 - p); }, 0.1, 0.9);
}

}  // namespace detail

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
  detail::check_same_shape("binary_cross_entropy", self, target);
  detail::expect_probabilities("probabilities", self);
  detail::expect_probabilities("targets", target);
  return detail::weighted_loss(detail::BinaryCrossEntropy{}, reduction, weight, self, target);
}

}  // namespace halfgrad
