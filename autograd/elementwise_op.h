#pragma once

#include <cstdint>
#include <utility>

#include <halfgrad/autograd/op.h>
#include <halfgrad/core/dual.h>
#include <halfgrad/core/elementwise.h>
#include <halfgrad/core/math.h>

/// Elementwise ops from one struct each, see ops/softplus.cpp. The struct F states the mathematics
///
///   template <class T> HG_HD T value(T x) const;             // or value(a, b), value(a, b, c)
///   template <class T> HG_HD T slope(T x, T y) const;        // dy/dx; y is the value
///   template <class T> HG_HD T slope_a(T a, T b, T y) const; // two operands: slope_a, slope_b,
///   ...
///
/// and gets its kernels for every dtype, its gradient, and its second derivative (from the same
/// slope, evaluated on dual numbers).
namespace halfgrad::detail {

/// Fields an op inherits when it has nothing special to say.
struct ElementwiseDefaults {
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInputs;  // what `slope` looks at
  static constexpr bool integers = false;          // also defined on integers
  static constexpr bool boolean_result = false;    // yields bool: comparisons
  static constexpr bool differentiable = true;
};

/// The partial derivative of f with respect to operand I.
template <std::size_t I, class F, class T>
T partial(const F& f, T x, T y) {
  return f.slope(x, y);
}
template <std::size_t I, class F, class T>
T partial(const F& f, T a, T b, T y) {
  if constexpr (I == 0) {
    return f.slope_a(a, b, y);
  } else {
    return f.slope_b(a, b, y);
  }
}
template <std::size_t I, class F, class T>
T partial(const F& f, T a, T b, T c, T y) {
  if constexpr (I == 0) {
    return f.slope_a(a, b, c, y);
  } else if constexpr (I == 1) {
    return f.slope_b(a, b, c, y);
  } else {
    return f.slope_c(a, b, c, y);
  }
}

/// f itself, as the engine calls it.
template <class F>
struct ValueKernel {
  static constexpr bool integers = F::integers;
  F f;
  template <class... T>
  auto operator()(T... x) const {
    return f.value(x...);
  }
};

/// dy * (partial derivative), in one pass over dy and what was saved. An op may define
/// `gradient(dy, x, y)` where the product is wrong at the edges (0 * inf).
template <class F, std::size_t I, std::size_t N>
struct GradientKernel {
  static constexpr bool integers = false;
  F f;

  template <class T>
  T times_slope(T dy, T x, T y) const {
    if constexpr (requires { f.gradient(dy, x, y); }) {
      return f.gradient(dy, x, y);
    } else {
      return dy * partial<I>(f, x, y);
    }
  }
  template <class T>
  T times_slope(T dy, T a, T b, T y) const {
    return dy * partial<I>(f, a, b, y);
  }
  template <class T>
  T times_slope(T dy, T a, T b, T c, T y) const {
    return dy * partial<I>(f, a, b, c, y);
  }

  template <class T, class... Saved>
  T operator()(T dy, Saved... saved) const {
    constexpr bool kInputs = (F::saves & kSavesInputs) != 0;
    constexpr bool kOutput = (F::saves & kSavesOutput) != 0;
    if constexpr (kInputs && kOutput) {
      return times_slope(dy, saved...);
    } else if constexpr (kInputs) {
      return times_slope(dy, saved..., T(0));
    } else if constexpr (kOutput) {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return times_slope(dy, (static_cast<void>(K), T(0))..., saved...);
      }
      (std::make_index_sequence<N>{});
    } else {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return times_slope(dy, (static_cast<void>(K), T(0))..., T(0));
      }
      (std::make_index_sequence<N>{});
    }
  }
};

template <class F, std::size_t N, int kOrder>
struct Elementwise;

/// The partial derivative as an op of its own, so that it can be differentiated again.
/// kFromOutput: its operand is the output of f, for ops that save nothing else.
template <class F, std::size_t I, std::size_t N, bool kFromOutput>
struct Slope : ElementwiseDefaults {
  static constexpr auto name = F::name;
  F f;

  template <class T>
  T value(T x) const {
    if constexpr (kFromOutput) {
      return partial<I>(f, T(0), x);
    } else {
      return partial<I>(f, x, f.value(x));
    }
  }
  template <class T>
  T value(T a, T b) const {
    return partial<I>(f, a, b, f.value(a, b));
  }
  template <class T>
  T value(T a, T b, T c) const {
    return partial<I>(f, a, b, c, f.value(a, b, c));
  }

  template <class T>
  T slope(T x, T) const {
    return value(Dual<T>{x, T(1)}).derivative;
  }
  template <class T>
  T slope_a(T a, T b, T) const {
    return value(Dual<T>{a, T(1)}, Dual<T>{b, T(0)}).derivative;
  }
  template <class T>
  T slope_b(T a, T b, T) const {
    return value(Dual<T>{a, T(0)}, Dual<T>{b, T(1)}).derivative;
  }
  template <class T>
  T slope_a(T a, T b, T c, T) const {
    return value(Dual<T>{a, T(1)}, Dual<T>{b, T(0)}, Dual<T>{c, T(0)}).derivative;
  }
  template <class T>
  T slope_b(T a, T b, T c, T) const {
    return value(Dual<T>{a, T(0)}, Dual<T>{b, T(1)}, Dual<T>{c, T(0)}).derivative;
  }
  template <class T>
  T slope_c(T a, T b, T c, T) const {
    return value(Dual<T>{a, T(0)}, Dual<T>{b, T(0)}, Dual<T>{c, T(1)}).derivative;
  }
};

/// Derivatives of a derivative are compiled up to this order.
inline constexpr int kMaxOrder = 1;

Tensor multiply(const Tensor& a, const Tensor& b);
[[noreturn]] void refuse_derivative(const char* op);

/// The op for `apply`. kOrder counts how often it was differentiated.
template <class F, std::size_t N, int kOrder = 0>
struct Elementwise {
  static constexpr auto name = F::name;
  static constexpr auto precision = F::precision;
  static constexpr unsigned saves = F::saves;
  static constexpr bool differentiable = F::differentiable;
  F f;
  DType compute = DType::f32;

  void prepare(std::span<const Tensor> operands) {
    compute = result_type(operands);
    if (!F::integers && !is_floating_point(compute)) compute = DType::f32;
  }

  template <class... In>
  Array forward(const Array& first, const In&... rest) const {
    Shape sizes = first.sizes();
    ((sizes = broadcast_shapes(sizes, rest.sizes(), name)), ...);
    const DType dtype = F::boolean_result ? DType::boolean : compute;
    Array out = Array::empty(sizes, dtype, first.device());
    elementwise(ValueKernel<F>{f}, compute, out, first, rest...);
    return out;
  }

  void backward(const Backward<N>& b) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((b.needs(I) ? b.set(I, gradient<I>(b)) : void()), ...);
    }
    (std::make_index_sequence<N>{});
  }

 private:
  static constexpr bool kFromOutput = F::saves == kSavesOutput;

  template <std::size_t I>
  Tensor gradient(const Backward<N>& b) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if (GradMode::is_enabled()) return differentiable_gradient<I>(b, b.input(K)...);
      const Array& dy = b.grad().array();
      Array dx = Array::empty(dy.sizes(), compute, dy.device());
      const GradientKernel<F, I, N> kernel{f};
      if constexpr (F::saves == kSavesNothing) {
        elementwise(kernel, compute, dx, dy);
      } else if constexpr (kFromOutput) {
        elementwise(kernel, compute, dx, dy, b.output_array());
      } else if constexpr ((F::saves & kSavesOutput) != 0) {
        elementwise(kernel, compute, dx, dy, b.input_array(K)..., b.output_array());
      } else {
        elementwise(kernel, compute, dx, dy, b.input_array(K)...);
      }
      return Tensor(std::move(dx));
    }
    (std::make_index_sequence<N>{});
  }

  template <std::size_t I, class... In>
  Tensor differentiable_gradient(const Backward<N>& b, const In&... in) const {
    if constexpr (kOrder > kMaxOrder) {
      refuse_derivative(name);
    } else if constexpr (kFromOutput) {
      using Derivative = Elementwise<Slope<F, I, N, true>, 1, kOrder + 1>;
      return multiply(b.grad(), apply(Derivative{{{}, f}}, b.output()));
    } else if constexpr (F::saves == kSavesNothing) {
      // A constant slope: the kernel's product is all there is, and it is linear in the gradient.
      return apply(ConstantSlope<I>{f, compute}, b.grad());
    } else {
      using Derivative = Elementwise<Slope<F, I, N, false>, N, kOrder + 1>;
      return multiply(b.grad(), apply(Derivative{{{}, f}}, in...));
    }
  }

  template <std::size_t I>
  struct ConstantSlope {
    static constexpr auto name = F::name;
    static constexpr auto precision = Precision::any;
    static constexpr unsigned saves = kSavesNothing;
    F f;
    DType compute;

    Array forward(const Array& dy) const {
      const Array dx = Array::empty(dy.sizes(), compute, dy.device());
      elementwise(GradientKernel<F, I, N>{f}, compute, dx, dy);
      return dx;
    }
    void backward(const Backward<1>& b) const { b.set(0, apply(*this, b.grad())); }
  };
};

/// Runs f on tensors that broadcast, in their promoted dtype.
template <class F, std::same_as<Tensor>... In>
Tensor apply_elementwise(const F& f, const In&... in) {
  return apply(Elementwise<F, sizeof...(In)>{f}, in...);
}

}  // namespace halfgrad::detail
