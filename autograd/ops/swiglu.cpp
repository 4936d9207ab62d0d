#include <cmath>
#include <limits>

#include <halfgrad/autograd/op_table/elementwise_entry.h>
#include <halfgrad/autograd/ops/shared/logistic.h>
#include <halfgrad/autograd/transformer.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// y = a s b,  s = 1 / (1 + e^-a), elementwise; a is the gate
// dy/da = s (1 + a (1 - s)) b,  dy/db = a s
struct Swiglu : ElementwiseDefaults {
  static constexpr auto name = "swiglu";
  static constexpr std::array reads = {operands(0, 1), operands(0)};
  static constexpr double low = -4, high = 4, roundoffs = 8;

  // silu(a) may underflow to 0, and 0 times an infinite b would be NaN. A finite a has the limit.
  template <class T>
  HG_HD T value(T a, T b) const {
    const T infinity(std::numeric_limits<scalar_t<T>>::infinity());
    const T y = a * logistic(a) * b;
    return select(math::abs(b) == infinity, select(a > -infinity, a * b, y), y);
  }
  template <class T>
  HG_HD T slope_a(T a, T b, T) const {
    const T s = logistic(a);
    return s * (T(1) + a * (T(1) - s)) * b;
  }
  template <class T>
  HG_HD T slope_b(T a, T, T) const {
    return a * logistic(a);
  }
  static Bounded reference(const AnyArithmetic& a, Bounded gate, Bounded up) {
    if (std::isinf(up.value) && std::isfinite(gate.value)) return a.mul(gate, up);
    return a.mul(a.mul(gate, logistic_reference(a, gate)), up);
  }
};

// Half 0 or 1 of the last dimension, a view.
Array half_of(const Array& x, std::int64_t half) {
  const std::int64_t n = x.size(-1) / 2;
  return x.slice(-1, half * n, (half + 1) * n);
}

// swiglu of the halves of x. The gradients are written into the halves of dx, without a copy.
struct SwigluOfHalves {
  static constexpr auto name = Swiglu::name;
  static constexpr auto precision = Swiglu::precision;
  static constexpr unsigned saves = kSavesInputs;
  using ByGate = Slope<Swiglu, 0, 2>;
  using ByUp = Slope<Swiglu, 1, 2>;

  Array forward(const Array& x) const {
    const Array gate = half_of(x, 0);
    Array y = Array::empty(gate.sizes(), x.dtype(), x.device());
    elementwise(ValueKernel<Swiglu>{}, x.dtype(), y, gate, half_of(x, 1));
    return y;
  }

  void backward(const Backward<1>& b) const {
    if (!b.needs(0)) return;
    const DType dtype = b.input_array(0).dtype();
    if (GradMode::is_enabled()) {
      const std::vector<Tensor> halves = chunk(b.input(0), 2, -1);
      b.set(0, cat({apply(Gradient<ByGate>{{}, dtype}, b.grad(), halves[0], halves[1]),
                    apply(Gradient<ByUp>{{}, dtype}, b.grad(), halves[0])},
                   -1));
      return;
    }
    const Array& x = b.input_array(0);
    const Array& dy = b.grad().array();
    const Array gate = half_of(x, 0);
    const Array dx = Array::empty(x.sizes(), dtype, x.device());
    elementwise(GradientKernel<ByGate>{}, dtype, half_of(dx, 0), dy, gate, half_of(x, 1));
    elementwise(GradientKernel<ByUp>{}, dtype, half_of(dx, 1), dy, gate);
    b.set(0, Tensor(dx));
  }
};

}  // namespace

OpEntry swiglu_entry() {
  return elementwise_entry(Swiglu{},
                           [](const Tensor& gate, const Tensor& up) { return swiglu(gate, up); });
}

}  // namespace detail

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  return detail::apply_elementwise(detail::Swiglu{}, gate, up);
}

Tensor swiglu(const Tensor& x) {
  if (x.dim() < 1 || x.size(-1) % 2 != 0 || !x.is_floating_point()) {
    detail::fail("swiglu", "expected floating point x [..., 2 n], got {} of {}", x.sizes(),
                 x.dtype());
  }
  return detail::apply(detail::SwigluOfHalves{}, x);
}

}  // namespace halfgrad
