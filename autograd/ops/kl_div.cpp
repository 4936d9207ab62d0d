#include <utility>

#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// y = t (log(t) - x), 0 where t = 0, elementwise, then reduced
// dy/dx = -t,  dy/dt = log(t) + 1 - x
// x is a log-probability, t a probability.
struct KullbackLeibler : LossDefaults {
  static constexpr auto name = "kl_div";

  template <class T>
  HG_HD T value(T x, T target) const {
    const T entropy = select(target == T(0), T(0), target * math::log(target));
    return entropy - target * x;
  }
  template <class T>
  HG_HD T slope_a(T, T target, T) const {
    return -target;
  }
  template <class T>
  HG_HD T slope_b(T x, T target, T) const {
    return math::log(target) + T(1) - x;
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded t) {
    const Bounded entropy = a.value(t) == 0 ? a.number(0) : a.mul(t, a.log(t));
    return a.sub(entropy, a.mul(t, x));
  }
};

// y = e^t (t - x), where t is a log-probability too
// dy/dx = -e^t,  dy/dt = e^t (t - x + 1)
struct KullbackLeiblerOfLog : LossDefaults {
  static constexpr auto name = "kl_div";

  template <class T>
  HG_HD T value(T x, T target) const {
    return math::exp(target) * (target - x);
  }
  template <class T>
  HG_HD T slope_a(T, T target, T) const {
    return -math::exp(target);
  }
  template <class T>
  HG_HD T slope_b(T x, T target, T) const {
    return math::exp(target) * (target - x + T(1));
  }
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded t) {
    return a.mul(a.exp(t), a.sub(t, x));
  }
};

}  // namespace

OpEntry kl_div_entry() {
  OpEntry entry = loss_entry<KullbackLeibler>(
      [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, r); },
      KullbackLeibler::reference, 0.1, 2);
  const OpEntry of_log = loss_entry<KullbackLeiblerOfLog>(
      [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, r, true); },
      KullbackLeiblerOfLog::reference);
  for (OpExample example : of_log.examples) {
    example.name = "of logarithms, " + example.name;
    entry.examples.push_back(std::move(example));
  }
  return entry;
}

}  // namespace detail

Tensor kl_div(const Tensor& self, const Tensor& target, Reduction reduction, bool log_target,
              CallSite site) {
  return log_target ? detail::loss(detail::KullbackLeiblerOfLog{}, reduction, self, target, site)
                    : detail::loss(detail::KullbackLeibler{}, reduction, self, target, site);
}

}  // namespace halfgrad
