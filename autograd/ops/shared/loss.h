#pragma once

#include <concepts>

#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/op_table/op_table.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>

/// A loss of two tensors is an elementwise op (elementwise_op.h), followed by a reduction.
namespace halfgrad::detail {

struct LossDefaults : ElementwiseDefaults {
  static constexpr auto precision = Precision::wide_range;
};

/// A loss that depends on d = x - t only. F defines
///
///     y = of_difference(d),  dy/dd = slope_of_difference(d)
///
/// so dy/dx = dy/dd and dy/dt = -dy/dd.
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

/// Returns -1, 0 or 1, and NaN for NaN. The derivative of a Dual is 0.
template <class T>
HG_HD T sign(T x) {
  return select(x > T(0), T(1), select(x < T(0), T(-1), x * T(0)));
}

inline Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::mean  ? mean(losses)
         : reduction == Reduction::sum ? sum(losses)
                                       : losses;
}

/// Computes f(operands...), times `weight` if that is defined, and reduces: one op for autocast.
template <class F, std::same_as<Tensor>... In>
Tensor weighted_loss(const F& f, Reduction reduction, const Tensor& weight, const In&... operands) {
  const auto compute = [&](const Tensor& w, const auto&... cast) {
    Tensor losses = apply_elementwise(f, cast...);
    if (w.defined()) losses = losses * w;
    return reduced(losses, reduction);
  };
  return composite(F::name, F::precision, compute, weight, operands...);
}

/// weighted_loss without weight. Warns if the shapes differ, as PyTorch's mse_loss does: [n, 1] and
/// [n] broadcast to [n, n].
template <class F>
Tensor loss(const F& f, Reduction reduction, const Tensor& self, const Tensor& target,
            const CallSite& site) {
  if (self.sizes() != target.sizes()) {
    warn_once(site, F::name,
              "expected a target of shape " + to_string(self.sizes()) + ", got " +
                  to_string(target.sizes()) + "; both are broadcast");
  }
  return weighted_loss(f, reduction, {}, self, target);
}

inline void check_same_shape(const char* op, const Tensor& self, const Tensor& target) {
  if (self.sizes() == target.sizes()) return;
  fail(op, "expected a target of shape {}, got {}", self.sizes(), target.sizes());
}

inline void check_floating(const char* op, const Tensor& self, const Tensor& target) {
  if (self.is_floating_point() || target.is_floating_point()) return;
  fail(op, "expected floating-point tensors, got {} and {}", self.dtype(), target.dtype());
}

inline void check_positive(const char* op, const char* what, double value) {
  if (value > 0) return;
  fail(op, "expected {} > 0, got {}", what, value);
}

}  // namespace halfgrad::detail
