#include <limits>
#include <type_traits>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = min(max(x, min), max), elementwise
// dy/dx = 1 for min < x < max, else 0
struct Clamp : ElementwiseDefaults {
  static constexpr auto name = "clamp";
  static constexpr bool masks_gradient = true;
  static constexpr bool integers = true;
  static constexpr double low = -4, high = 4, roundoffs = 0;
  std::optional<Scalar> min;
  std::optional<Scalar> max;

  template <class T>
  HG_HD T value(T x) const {
    const T above = min ? math::maximum(x, as<T>(*min)) : x;
    return max ? math::minimum(above, as<T>(*max)) : above;
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    const T above = min ? select(x > as<T>(*min), T(1), T(0)) : T(1);
    return max ? select(x < as<T>(*max), above, T(0)) : above;
  }
  double reference(double x) const {
    if (min && x < min->to<double>()) x = min->to<double>();
    return max && x > max->to<double>() ? max->to<double>() : x;
  }
};

// Throws if every element would become a bound that the integer `dtype` does not hold.
void check_bounds(DType dtype, std::optional<Scalar> min, std::optional<Scalar> max) {
  visit(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      if (min && !(min->to<double>() <= static_cast<double>(Limits::max()))) {
        fail("clamp", "expected a min that {} can hold, got {}", dtype, min->to<double>());
      }
      if (max && !(max->to<double>() >= static_cast<double>(Limits::lowest()))) {
        fail("clamp", "expected a max that {} can hold, got {}", dtype, max->to<double>());
      }
    }
  });
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
  if (!min && !max) detail::fail("clamp", "expected min or max, got neither");
  const auto fractional = [](const std::optional<Scalar>& bound) {
    return bound && is_floating_point(bound->kind());
  };
  Tensor wide = self;
  if (!self.is_floating_point() && (fractional(min) || fractional(max))) {
    wide = to(self, get_default_dtype());
  } else if (self.dtype() == kBool) {
    wide = to(self, kLong);
  }
  detail::check_bounds(wide.dtype(), min, max);
  return detail::apply_elementwise(detail::Clamp{{}, min, max}, wide);
}

Tensor clamp(const Tensor& self, const Tensor& min, const Tensor& max) {
  if (!min.defined() && !max.defined()) {
    detail::fail("clamp", "expected min or max, got neither");
  }
  const auto named = [](const char* inner, const auto& f) {
    return detail::with_op_name("clamp", inner, f);
  };
  Tensor result = self;
  if (min.defined()) result = named("maximum", [&] { return maximum(result, min); });
  if (max.defined()) result = named("minimum", [&] { return minimum(result, max); });
  return result;
}

Tensor clamp_min(const Tensor& self, Scalar min) { return clamp(self, min); }
Tensor clamp_max(const Tensor& self, Scalar max) { return clamp(self, {}, max); }
Tensor clamp_min(const Tensor& self, const Tensor& min) {
  return detail::with_op_name("clamp_min", "maximum", [&] { return maximum(self, min); });
}
Tensor clamp_max(const Tensor& self, const Tensor& max) {
  return detail::with_op_name("clamp_max", "minimum", [&] { return minimum(self, max); });
}

}  // namespace halfgrad
