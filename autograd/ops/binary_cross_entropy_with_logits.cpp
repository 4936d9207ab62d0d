#include <cmath>

#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/logistic.h>
#include <halfgrad/autograd/ops/shared/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// log(1 + exp(-x)) without overflow
template <class T>
HG_HD T softplus_of_minus(T x) {
  return math::log1p(math::exp(-math::abs(x))) + math::maximum(-x, T(0));
}

// y = -(w t log s(x) + (1 - t) log s(-x)),  s(x) = 1 / (1 + exp(-x)), elementwise, then reduced
//   = (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)),  w the weight of positive targets
// dy/dx = (1 - t) s(x) - w t s(-x)
// dy/dt = (w - 1) log(1 + exp(-x)) - x
// dy/dw = t log(1 + exp(-x))
struct LogitsCrossEntropy : LossDefaults {
  static constexpr auto name = "binary_cross_entropy_with_logits";

  template <class T>
  HG_HD T value(T x, T target, T w) const {
    return (T(1) - target) * x + (T(1) + (w - T(1)) * target) * softplus_of_minus(x);
  }
  template <class T>
  HG_HD T slope_a(T x, T target, T w, T) const {
    return (T(1) - target) * logistic(x) - w * target * logistic(-x);
  }
  template <class T>
  HG_HD T slope_b(T x, T, T w, T) const {
    return (w - T(1)) * softplus_of_minus(x) - x;
  }
  template <class T>
  HG_HD T slope_c(T x, T target, T, T) const {
    return target * softplus_of_minus(x);
  }
};

}  // namespace

OpEntry binary_cross_entropy_with_logits_entry() {
  OpEntry entry = loss_entry<LogitsCrossEntropy>(
      [](const Tensor& x, const Tensor& t, Reduction r) {
        return binary_cross_entropy_with_logits(x, t, {}, Tensor(Array::full({}, 3, x.dtype())), r);
      },
      [](double x, double t) {
        const double p = 1 / (1 + std::exp(-x));
        return -3 * t * std::log(p) - (1 - t) * std::log(1 - p);
      });
  // Losses up to 12 of either sign cancel in the reduced examples: measured 15 roundoffs on the
  // CPU, 19 with CUDA's exp and log1p.
  entry.roundoffs = 32;
  return entry;
}

}  // namespace detail

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        Reduction reduction) {
  detail::check_same_shape("binary_cross_entropy_with_logits", self, target);
  const Tensor positive =
      pos_weight.defined() ? pos_weight : detail::wrap(Scalar(1.0), self.device());
  return detail::weighted_loss(detail::LogitsCrossEntropy{}, reduction, weight, self, target,
                               positive);
}

}  // namespace halfgrad
