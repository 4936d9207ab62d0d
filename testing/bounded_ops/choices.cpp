#include <cmath>
#include <limits>

#include <halfgrad/testing/bounded_ops/recorded.h>

/// Comparisons, and ops that choose one of several elements.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using detail::mapped;
using detail::zipped;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The truth of `holds` for two elements: 1 or 0, within 1 if their errors overlap.
template <class F>
BoundedArray compared(const char* op, const BoundedArray& a, const BoundedArray& b,
                      const F& holds) {
  return zipped(
      op, a, b,
      [&](const AnyArithmetic&, const Bounded& x, const Bounded& y) {
        const double error = x.error + y.error;
        const bool may_differ = error > 0 && !(std::fabs(x.value - y.value) > error);
        return Bounded{holds(x.value, y.value) ? 1.0 : 0.0, may_differ ? 1.0 : 0.0};
      },
      [](const Inputs&, const BoundedArray&, const BoundedArray&) {
        return Inputs{{}, {}};
      });
}

/// The larger element; NaN if one is NaN. A kernel may choose the other where their errors overlap.
Bounded larger(const AnyArithmetic& a, const Bounded& x, const Bounded& y) { return a.max({x, y}); }

/// The gradient by `x` of the chosen one of x and `other`: halves for equal elements, as libtorch.
BoundedArray gradient_of_chosen(const BoundedArray& x, const BoundedArray& other,
                                const BoundedArray& is_other, const BoundedArray& dy) {
  return where(eq(x, other), 0.5 * dy, where(is_other, zeros_like(dy), dy));
}

}  // namespace

BoundedArray operator<(const BoundedArray& a, const BoundedArray& b) {
  return compared("lt", a, b, [](double x, double y) { return x < y; });
}
BoundedArray operator<=(const BoundedArray& a, const BoundedArray& b) {
  return compared("le", a, b, [](double x, double y) { return x <= y; });
}
BoundedArray operator>(const BoundedArray& a, const BoundedArray& b) { return b < a; }
BoundedArray operator>=(const BoundedArray& a, const BoundedArray& b) { return b <= a; }
BoundedArray operator<(const BoundedArray& a, double b) { return a < constant(a, b); }
BoundedArray operator<=(const BoundedArray& a, double b) { return a <= constant(a, b); }
BoundedArray operator>(const BoundedArray& a, double b) { return a > constant(a, b); }
BoundedArray operator>=(const BoundedArray& a, double b) { return a >= constant(a, b); }
BoundedArray eq(const BoundedArray& a, const BoundedArray& b) {
  return compared("eq", a, b, [](double x, double y) { return x == y; });
}

BoundedArray where(const BoundedArray& condition, const BoundedArray& a, const BoundedArray& b) {
  for (const BoundedArray* each : {&condition, &a, &b}) detail::expect_defined("where", *each);
  const Shape sizes =
      broadcast_shapes(condition.sizes(), broadcast_shapes(a.sizes(), b.sizes(), "where"), "where");
  const Inputs in = {expand(condition, sizes), expand(a, sizes), expand(b, sizes)};
  Elements out;
  out.reserve(in[0].elements().size());
  for (std::size_t i = 0; i < in[0].elements().size(); ++i) {
    const Bounded &c = in[0].elements()[i], &x = in[1].elements()[i], &y = in[2].elements()[i];
    const bool first = c.value != 0;
    const Bounded &chosen = first ? x : y, &other = first ? y : x;
    out.push_back(c.error == 0 ? chosen : a.math().either(chosen, other));
  }
  return detail::Recorder::recorded(
      {a.arithmetic(), sizes, std::move(out)}, in,
      [](const Inputs& from, const BoundedArray&, const BoundedArray& dy) {
        const BoundedArray zeros = zeros_like(dy);
        return Inputs{{}, where(from[0], dy, zeros), where(from[0], zeros, dy)};
      });
}

BoundedArray masked_fill(const BoundedArray& x, const BoundedArray& mask, double value) {
  return where(mask, constant(x, value), x);
}

BoundedArray clamp(const BoundedArray& x, double low, double high) {
  return mapped(
      x,
      [=](const AnyArithmetic& a, const Bounded& e) {
        const Bounded above = a.at_least(e, low);
        return high == kNoLimit ? above : a.neg(a.at_least(a.neg(above), -high));
      },
      [=](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        // At a bound and for NaN, libtorch's kernels give dy or 0, which depends on the version.
        const BoundedArray zeros = zeros_like(dy);
        const BoundedArray below = high == kNoLimit ? dy : where(in[0] < high, dy, zeros);
        const BoundedArray open = where(in[0] > low, below, zeros);
        const BoundedArray closed = where(in[0] < low, zeros, where(in[0] > high, zeros, dy));
        return Inputs{either(open, closed)};
      });
}

BoundedArray maximum(const BoundedArray& a, const BoundedArray& b) {
  return zipped("maximum", a, b, larger,
                [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
                  return Inputs{gradient_of_chosen(in[0], in[1], in[0] < in[1], dy),
                                gradient_of_chosen(in[1], in[0], in[1] < in[0], dy)};
                });
}

BoundedArray minimum(const BoundedArray& a, const BoundedArray& b) { return -maximum(-a, -b); }

}  // namespace halfgrad::testing
