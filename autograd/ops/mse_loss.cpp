#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// y = d^2,  d = x - t, elementwise, then reduced
// dy/dd = 2 d
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
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded t) {
    const Bounded d = a.sub(x, t);
    return a.mul(d, d);
  }
};

}  // namespace

OpEntry mse_loss_entry() {
  return loss_entry<SquaredError>(
      [](const Tensor& x, const Tensor& t, Reduction r) { return mse_loss(x, t, r); },
      SquaredError::reference);
}

}  // namespace detail

Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction, CallSite site) {
  detail::check_floating("mse_loss", self, target);
  return detail::loss(detail::SquaredError{}, reduction, self, target, site);
}

}  // namespace halfgrad
