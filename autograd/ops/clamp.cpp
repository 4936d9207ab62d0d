#include <cmath>
#include <stdexcept>

#include <halfgrad/autograd/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = min(max(x, low), high);  dx = dy where x is within the bounds, not on one, else 0
struct Clamp : ElementwiseDefaults {
  static constexpr auto name = "clamp";
  static constexpr bool masks_gradient = true;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 0;
  std::optional<double> min;
  std::optional<double> max;

  template <class T>
  HG_HD T value(T x) const {
    const T above = min ? math::maximum(x, T(*min)) : x;
    return max ? math::minimum(above, T(*max)) : above;
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    const T above = min ? select(x > T(*min), T(1), T(0)) : T(1);
    return max ? select(x < T(*max), above, T(0)) : above;
  }
  double reference(double x) const {
    if (min && x < *min) x = *min;
    return max && x > *max ? *max : x;
  }
};

std::optional<double> value_of(std::optional<Scalar> bound) {
  return bound ? std::optional(bound->value()) : std::nullopt;
}

}  // namespace

OpEntry clamp_entry() {
  OpEntry entry =
      elementwise_entry(Clamp{{}, -1, 2.5}, [](const Tensor& x) { return clamp(x, -1, 2.5); });
  add_examples(
      entry, Clamp{{}, 0.5, {}}, [](const Tensor& x) { return clamp(x, 0.5); }, "from below");
  add_examples(
      entry, Clamp{{}, {}, 0.5}, [](const Tensor& x) { return clamp(x, {}, 0.5); }, "from above");
  return entry;
}

}  // namespace detail

Tensor clamp(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  if (!min && !max) throw std::invalid_argument("clamp: expected min or max, got neither");
  const auto fractional = [](const std::optional<Scalar>& bound) {
    return bound && is_floating_point(bound->kind());
  };
  Tensor wide = self;
  if (!self.is_floating_point() && (fractional(min) || fractional(max))) {
    wide = to(self, kFloat32);
  } else if (self.dtype() == kBool) {
    wide = to(self, kLong);
  }
  return detail::apply_elementwise(detail::Clamp{{}, detail::value_of(min), detail::value_of(max)},
                                   wide);
}

}  // namespace halfgrad
