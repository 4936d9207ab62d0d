#include <cmath>

#include <halfgrad/autograd/elementwise_entry.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = sin(x), elementwise
// dy/dx = cos(x)
struct Sin : ElementwiseDefaults {
  static constexpr auto name = "sin";
  static constexpr double low = -10, high = 10, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return math::sin(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return math::cos(x);
  }
  static double reference(double x) { return std::sin(x); }
};

// y = cos(x), elementwise
// dy/dx = -sin(x)
struct Cos : ElementwiseDefaults {
  static constexpr auto name = "cos";
  static constexpr double low = -10, high = 10, roundoffs = 2;

  template <class T>
  HG_HD T value(T x) const {
    return math::cos(x);
  }
  template <class T>
  HG_HD T slope(T x, T) const {
    return -math::sin(x);
  }
  static double reference(double x) { return std::cos(x); }
};

// y = tan(x), elementwise
// dy/dx = 1 + y^2
struct Tan : ElementwiseDefaults {
  static constexpr auto name = "tan";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = kSavesOutput;
  static constexpr double low = -1.25, high = 1.25, roundoffs = 4;  // 2 ulp, like CUDA's tan

  template <class T>
  HG_HD T value(T x) const {
    return math::tan(x);
  }
  template <class T>
  HG_HD T slope(T, T y) const {
    return T(1) + y * y;
  }
  static double reference(double x) { return std::tan(x); }
};

}  // namespace

OpEntry sin_entry() {
  return elementwise_entry(Sin{}, [](const Tensor& x) { return sin(x); });
}
OpEntry cos_entry() {
  return elementwise_entry(Cos{}, [](const Tensor& x) { return cos(x); });
}
OpEntry tan_entry() {
  return elementwise_entry(Tan{}, [](const Tensor& x) { return tan(x); });
}

}  // namespace detail

Tensor sin(const Tensor& self) { return detail::apply_elementwise(detail::Sin{}, self); }
Tensor cos(const Tensor& self) { return detail::apply_elementwise(detail::Cos{}, self); }
Tensor tan(const Tensor& self) { return detail::apply_elementwise(detail::Tan{}, self); }

}  // namespace halfgrad
