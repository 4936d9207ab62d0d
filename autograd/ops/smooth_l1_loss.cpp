#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// y = d^2 / (2 beta) for |d| < beta, else |d| - beta / 2;  d = x - t, elementwise, then reduced
// dy/dd = d / beta for |d| < beta, else sign(d)
// For beta = 0 it is l1_loss.
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

LossReference smooth_l1_reference(double beta) {
  return [beta](const AnyArithmetic& a, Bounded x, Bounded t) {
    const Bounded half = a.number(0.5), d = a.abs(a.sub(x, t));
    if (!(a.value(d) <= beta)) return a.sub(d, a.number(beta / 2));
    const Bounded square = a.mul(half, a.mul(d, d));
    return beta == 1 ? square : a.div(square, a.constant(beta));
  };
}

}  // namespace

OpEntry smooth_l1_loss_entry() {
  OpEntry entry = loss_entry<SmoothL1>(
      [](const Tensor& x, const Tensor& t, Reduction r) { return smooth_l1_loss(x, t, r, 0.75); },
      smooth_l1_reference(0.75));
  entry.bounded_reference = mean_loss(smooth_l1_reference(1));
  return entry;
}

}  // namespace detail

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, Reduction reduction, double beta,
                      CallSite site) {
  detail::check_floating("smooth_l1_loss", self, target);
  if (beta == 0) return l1_loss(self, target, reduction, site);
  detail::check_positive("smooth_l1_loss", "beta", beta);
  detail::SmoothL1 f;
  f.beta = beta;
  return detail::loss(f, reduction, self, target, site);
}

}  // namespace halfgrad
