#include <array>
#include <cmath>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a + w (b - a), elementwise; a, b and w broadcast
//   = b - (1 - w) (b - a), used for w >= 0.5, so that w = 1 gives exactly b
// dy/da = 1 - w,  dy/db = w,  dy/dw = b - a
struct Lerp : ElementwiseDefaults {
  static constexpr auto name = "lerp";
  static constexpr std::array reads = {operands(2), operands(2), operands(0, 1)};
  static constexpr double low = -2, high = 2;
  static constexpr double roundoffs = 16;  // two roundings of w (b - a), which reaches 8

  template <class T>
  HG_HD T value(T a, T b, T w) const {
    const T distance = b - a;
    return select(w < T(0.5), a + w * distance, b - (T(1) - w) * distance);
  }
  template <class T>
  HG_HD T slope_a(T, T, T w, T) const {
    return T(1) - w;
  }
  template <class T>
  HG_HD T slope_b(T, T, T w, T) const {
    return w;
  }
  template <class T>
  HG_HD T slope_c(T a, T b, T, T) const {
    return b - a;
  }
  // If the two terms cancel, the error is that of the larger term, not a few roundoffs of y.
  static Bounded reference(const AnyArithmetic& a, Bounded start, Bounded end, Bounded weight) {
    const Bounded distance = a.sub(end, start);
    const Bounded from_start = a.add(start, a.mul(weight, distance));
    if (std::fabs(a.value(weight)) < 0.5) return from_start;
    const Bounded from_end = a.sub(end, a.mul(a.sub(a.number(1), weight), distance));
    return a.value(weight) < 0 ? a.either(from_start, from_end)
                               : from_end;  // PyTorch: abs(w) < 0.5
  }
};

}  // namespace

OpEntry lerp_entry() {
  return elementwise_entry(
      Lerp{}, [](const Tensor& a, const Tensor& b, const Tensor& w) { return lerp(a, b, w); });
}

}  // namespace detail

Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  const bool weight_fits = weight.dtype() == start.dtype() || weight.dim() == 0;
  if (end.dtype() != start.dtype() || !weight_fits) {
    detail::fail("lerp", "expected operands of one dtype, got {}, {} and {}", start.dtype(),
                 end.dtype(), weight.dtype());
  }
  return detail::apply_elementwise(detail::Lerp{}, start, end, weight);
}
Tensor lerp(const Tensor& start, const Tensor& end, Scalar weight) {
  return lerp(start, end, detail::wrap(weight, start.device()));
}

}  // namespace halfgrad
