#include <cmath>
#include <functional>

#include <halfgrad/autograd/composite_op.h>
#include <halfgrad/autograd/elementwise_op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/logistic.h>
#include <halfgrad/autograd/rows_entry.h>

namespace halfgrad {
namespace detail {
namespace {

Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::mean  ? mean(losses)
         : reduction == Reduction::sum ? sum(losses)
                                       : losses;
}

// A loss is a struct for one element and a reduction, together one op of wide range.
template <class F, std::same_as<Tensor>... In>
Tensor loss(const F& f, Reduction reduction, const In&... operands) {
  const auto compute = [&](const auto&... cast) {
    return reduced(apply_elementwise(f, cast...), reduction);
  };
  return composite(F::name, F::precision, compute, operands...);
}

void check_same_shape(const char* op, const Tensor& self, const Tensor& target) {
  if (self.sizes() == target.sizes()) return;
  throw std::invalid_argument(std::string(op) + ": expected a target of shape " +
                              to_string(self.sizes()) + ", got " + to_string(target.sizes()));
}

void check_positive(const char* op, const char* what, double value) {
  if (value > 0) return;
  throw std::invalid_argument(std::string(op) + ": expected " + what + " > 0, got " +
                              std::to_string(value));
}

// -1, 0 or 1; NaN stays.
template <class T>
HG_HD T sign(T x) {
  return select(x > T(0), T(1), select(x < T(0), T(-1), x));
}

struct LossDefaults : ElementwiseDefaults {
  static constexpr auto precision = Precision::wide_range;
};

// Of d = x - t only: F gives of_difference(d) and its slope.
template <class F>
struct DifferenceLoss : LossDefaults {
  template <class T>
  HG_HD T value(T x, T target) const {
    return self().of_difference(x - target);
  }
  template <class T>
  HG_HD T slope_a(T x, T target, T) const {
    return self().slope_of_difference(x - target);
  }
  template <class T>
  HG_HD T slope_b(T x, T target, T) const {
    return -self().slope_of_difference(x - target);
  }

 private:
  HG_HD const F& self() const { return static_cast<const F&>(*this); }
};

struct SquaredError : DifferenceLoss<SquaredError> {
  static constexpr auto name = "mse_loss";

  template <class T>
  HG_HD T of_difference(T d) const {
    return d * d;
  }
  template <class T>
  HG_HD T slope_of_difference(T d) const {
    return d + d;
  }
};

struct AbsoluteError : DifferenceLoss<AbsoluteError> {
  static constexpr auto name = "l1_loss";

  template <class T>
  HG_HD T of_difference(T d) const {
    return math::abs(d);
  }
  template <class T>
  HG_HD T slope_of_difference(T d) const {
    return sign(d);
  }
};

// d^2 / (2 beta) below |d| = beta, |d| - beta / 2 above; beta 0 is |d|.
struct SmoothL1 : DifferenceLoss<SmoothL1> {
  static constexpr auto name = "smooth_l1_loss";
  double beta = 1;

  template <class T>
  HG_HD T of_difference(T d) const {
    const T size = math::abs(d);
    return select(size < T(beta), T(0.5) * d * d / T(beta), size - T(0.5 * beta));
  }
  template <class T>
  HG_HD T slope_of_difference(T d) const {
    return select(math::abs(d) < T(beta), d / T(beta), sign(d));
  }
};

// d^2 / 2 up to |d| = delta, delta (|d| - delta / 2) above.
struct Huber : DifferenceLoss<Huber> {
  static constexpr auto name = "huber_loss";
  double delta = 1;

  template <class T>
  HG_HD T of_difference(T d) const {
    const T size = math::abs(d);
    return select(size <= T(delta), T(0.5) * d * d, T(delta) * (size - T(0.5 * delta)));
  }
  template <class T>
  HG_HD T slope_of_difference(T d) const {
    return select(math::abs(d) <= T(delta), d, T(delta) * sign(d));
  }
};

// t (log t - x), 0 where t = 0
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
};

// exp(t) (t - x)
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
};

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

// log(1 + exp(-x)) without overflow
template <class T>
HG_HD T softplus_of_minus(T x) {
  return math::log1p(math::exp(-math::abs(x))) + math::maximum(-x, T(0));
}

// With the positive weight w: (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x))
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

Tensor weighted(const Tensor& losses, const Tensor& weight) {
  return weight.defined() ? losses * weight : losses;
}

}  // namespace

namespace {

using LossFunction = std::function<Tensor(const Tensor&, const Tensor&, Reduction)>;
using LossReference = std::function<double(double x, double target)>;

OpEntry loss_entry(const char* name, Precision precision, const LossFunction& run,
                   const LossReference& f, double low = -2, double high = 2) {
  OpEntry entry{.name = name, .precision = precision, .roundoffs = 16, .examples = {}};
  for (const Reduction reduction : {kNone, kMean, kSum}) {
    entry.examples.push_back(
        {"reduction " + std::to_string(static_cast<int>(reduction)),
         {{.sizes = {3, 4}, .low = low, .high = high}, {.sizes = {3, 4}, .low = low, .high = high}},
         [=](const std::vector<Tensor>& in) { return run(in[0], in[1], reduction); },
         [=](const std::vector<Values>& in) {
           Values losses{{3, 4}, {}};
           double sum = 0;
           for (std::size_t i = 0; i < 12; ++i) {
             losses.data.push_back(f(in[0].data[i], in[1].data[i]));
             sum += losses.data.back();
           }
           if (reduction == kNone) return losses;
           return Values{{}, {reduction == kMean ? sum / 12 : sum}};
         }});
  }
  return entry;
}

}  // namespace

OpEntry mse_loss_entry() {
  return loss_entry(
      SquaredError::name, SquaredError::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) { return mse_loss(x, t, r); },
      [](double x, double t) { return std::pow(x - t, 2); });
}

OpEntry l1_loss_entry() {
  return loss_entry(
      AbsoluteError::name, AbsoluteError::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) { return l1_loss(x, t, r); },
      [](double x, double t) { return std::abs(x - t); });
}

OpEntry smooth_l1_loss_entry() {
  return loss_entry(
      SmoothL1::name, SmoothL1::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) { return smooth_l1_loss(x, t, r, 0.75); },
      [](double x, double t) {
        const double d = std::abs(x - t);
        return d < 0.75 ? d * d / 1.5 : d - 0.375;
      });
}

OpEntry huber_loss_entry() {
  return loss_entry(
      Huber::name, Huber::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) { return huber_loss(x, t, r, 0.75); },
      [](double x, double t) {
        const double d = std::abs(x - t);
        return d < 0.75 ? d * d / 2 : 0.75 * d - 0.28125;
      });
}

OpEntry kl_div_entry() {
  OpEntry entry = loss_entry(
      KullbackLeibler::name, KullbackLeibler::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, r); },
      [](double x, double t) { return t * (std::log(t) - x); }, 0.1, 2);
  const OpEntry of_log = loss_entry(
      KullbackLeiblerOfLog::name, KullbackLeiblerOfLog::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, r, true); },
      [](double x, double t) { return std::exp(t) * (t - x); });
  for (OpExample example : of_log.examples) {
    example.name = "of logarithms, " + example.name;
    entry.examples.push_back(std::move(example));
  }
  return entry;
}

OpEntry binary_cross_entropy_entry() {
  return loss_entry(
      BinaryCrossEntropy::name, BinaryCrossEntropy::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) {
        return binary_cross_entropy(x, t, {}, r);
      },
      [](double p, double t) { return -t * std::log(p) - (1 - t) * std::log(1 - p); }, 0.1, 0.9);
}

OpEntry binary_cross_entropy_with_logits_entry() {
  return loss_entry(
      LogitsCrossEntropy::name, LogitsCrossEntropy::precision,
      [](const Tensor& x, const Tensor& t, Reduction r) {
        return binary_cross_entropy_with_logits(x, t, {}, Tensor(Array::full({}, 3, x.dtype())), r);
      },
      [](double x, double t) {
        const double p = 1 / (1 + std::exp(-x));
        return -3 * t * std::log(p) - (1 - t) * std::log(1 - p);
      });
}

}  // namespace detail

Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return detail::loss(detail::SquaredError{}, reduction, self, target);
}

Tensor l1_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return detail::loss(detail::AbsoluteError{}, reduction, self, target);
}

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, Reduction reduction, double beta) {
  if (beta == 0) return l1_loss(self, target, reduction);
  detail::check_positive("smooth_l1_loss", "beta", beta);
  detail::SmoothL1 f;
  f.beta = beta;
  return detail::loss(f, reduction, self, target);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, Reduction reduction, double delta) {
  detail::check_positive("huber_loss", "delta", delta);
  detail::Huber f;
  f.delta = delta;
  return detail::loss(f, reduction, self, target);
}

Tensor kl_div(const Tensor& self, const Tensor& target, Reduction reduction, bool log_target) {
  return log_target ? detail::loss(detail::KullbackLeiblerOfLog{}, reduction, self, target)
                    : detail::loss(detail::KullbackLeibler{}, reduction, self, target);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
  using detail::BinaryCrossEntropy;
  detail::check_same_shape(BinaryCrossEntropy::name, self, target);
  const auto compute = [&](const Tensor& p, const Tensor& t, const Tensor& w) {
    return detail::reduced(
        detail::weighted(detail::apply_elementwise(BinaryCrossEntropy{}, p, t), w), reduction);
  };
  return detail::composite(BinaryCrossEntropy::name, BinaryCrossEntropy::precision, compute, self,
                           target, weight);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        Reduction reduction) {
  using detail::LogitsCrossEntropy;
  detail::check_same_shape(LogitsCrossEntropy::name, self, target);
  const Tensor positive =
      pos_weight.defined() ? pos_weight : detail::wrap(Scalar(1.0), self.device());
  const auto compute = [&](const Tensor& x, const Tensor& t, const Tensor& w, const Tensor& p) {
    return detail::reduced(
        detail::weighted(detail::apply_elementwise(LogitsCrossEntropy{}, x, t, p), w), reduction);
  };
  return detail::composite(LogitsCrossEntropy::name, LogitsCrossEntropy::precision, compute, self,
                           target, weight, positive);
}

}  // namespace halfgrad
