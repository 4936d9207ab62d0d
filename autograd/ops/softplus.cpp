#include <limits>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/logistic.h>

namespace halfgrad {
namespace detail {
namespace {

// y = log(1 + e^(beta x)) / beta, elementwise
//   = max(x, 0) + log(1 + e^-|beta x|) / beta,  with min(x, 0) for beta < 0
// dy/dx = 1 / (1 + e^(-beta x))
//
// The second form never overflows and needs no cut-off, so the default `threshold` is infinity. If
// beta x is above it, y is x.
struct Softplus : ElementwiseDefaults {
  static constexpr auto name = "softplus";
  static constexpr auto precision = Precision::wide_range;
  static constexpr double low = -8, high = 30, roundoffs = 4;
  double beta = 1;
  double threshold = std::numeric_limits<double>::infinity();

  template <class T>
  HG_HD T value(T x) const {
    const T tail = math::log1p(math::exp(-math::abs(T(beta) * x)));
    const T hinge = beta > 0 ? math::maximum(x, T(0)) : math::minimum(x, T(0));
    return select(T(beta) * x > T(threshold), x, hinge + tail / T(beta));
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return select(T(beta) * x > T(threshold), T(1), logistic(T(beta) * x));
  }
  // PyTorch's kernels compute log(1 + e^z) / beta, and x where z > 20.
  Bounded reference(const AnyArithmetic& a, Bounded x) const {
    const Bounded z = scaled(a, x, beta);
    if (z.value > threshold) return x;
    const auto unscaled = [&](Bounded y) { return beta == 1 ? y : a.div(y, a.constant(beta)); };
    const Bounded tail = unscaled(a.log1p(a.exp(a.neg(a.abs(z)))));
    const Bounded usual = z.value > 20 ? x : unscaled(a.log1p(a.exp(z)));
    return a.either(z.value > 0 ? a.add(x, tail) : tail, usual);
  }
};

}  // namespace

OpEntry softplus_entry() {
  OpEntry entry = elementwise_entry(Softplus{}, [](const Tensor& x) { return softplus(x); });
  add_examples(
      entry, Softplus{{}, 2.5}, [](const Tensor& x) { return softplus(x, 2.5); }, "beta 2.5");
  add_examples(
      entry, Softplus{{}, 0.5, 4.3}, [](const Tensor& x) { return softplus(x, 0.5, 4.3); },
      "threshold 4.3");
  return entry;
}

}  // namespace detail

Tensor softplus(const Tensor& self, Scalar beta, Scalar threshold) {
  return detail::apply_elementwise(detail::Softplus{{}, beta.to<double>(), threshold.to<double>()},
                                   self);
}

}  // namespace halfgrad
