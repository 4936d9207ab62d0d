#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// y = d^2 / 2 for |d| <= delta, else delta (|d| - delta / 2);  d = x - t, elementwise, then reduced
// dy/dd = d for |d| <= delta, else delta sign(d)
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

LossReference huber_reference(double delta) {
  return [delta](const AnyArithmetic& a, Bounded x, Bounded t) {
    const Bounded half = a.number(0.5), d = a.abs(a.sub(x, t));
    if (a.value(d) <= delta) return a.mul(half, a.mul(d, d));
    return scaled(a, a.sub(d, a.number(delta / 2)), delta);
  };
}

}  // namespace

OpEntry huber_loss_entry() {
  OpEntry entry = loss_entry<Huber>(
      [](const Tensor& x, const Tensor& t, Reduction r) { return huber_loss(x, t, r, 0.75); },
      huber_reference(0.75));
  entry.bounded_reference = mean_loss(huber_reference(1));
  return entry;
}

}  // namespace detail

Tensor huber_loss(const Tensor& self, const Tensor& target, Reduction reduction, double delta,
                  CallSite site) {
  detail::check_floating("huber_loss", self, target);
  detail::check_positive("huber_loss", "delta", delta);
  detail::Huber f;
  f.delta = delta;
  return detail::loss(f, reduction, self, target, site);
}

}  // namespace halfgrad
