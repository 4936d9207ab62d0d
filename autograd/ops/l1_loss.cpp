#include <halfgrad/autograd/op_table/loss_entry.h>
#include <halfgrad/autograd/ops/shared/loss.h>

namespace halfgrad {
namespace detail {
namespace {

// y = |d|,  d = x - t, elementwise, then reduced
// dy/dd = sign(d)
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
  static Bounded reference(const AnyArithmetic& a, Bounded x, Bounded t) {
    return a.abs(a.sub(x, t));
  }
};

}  // namespace

OpEntry l1_loss_entry() {
  return loss_entry<AbsoluteError>(
      [](const Tensor& x, const Tensor& t, Reduction r) { return l1_loss(x, t, r); },
      AbsoluteError::reference);
}

}  // namespace detail

Tensor l1_loss(const Tensor& self, const Tensor& target, Reduction reduction, CallSite site) {
  if (!self.is_floating_point() && !target.is_floating_point()) {
    return detail::reduced(abs(self - target), reduction);  // the result stays integer
  }
  return detail::loss(detail::AbsoluteError{}, reduction, self, target, site);
}

}  // namespace halfgrad
