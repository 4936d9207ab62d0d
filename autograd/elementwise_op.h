#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/dual.h>
#include <halfgrad/core/elementwise.h>
#include <halfgrad/core/math.h>

/// Elementwise ops from one struct each, see ops/softplus.cpp. The struct F states the mathematics
///
///   template <class T> HG_HD T value(T x) const;             // or value(a, b), value(a, b, c)
///   template <class T> HG_HD T slope(T x, T y) const;        // dy/dx; y is the value
///   template <class T> HG_HD T slope_a(T a, T b, T y) const; // two operands: slope_a, slope_b,
///   template <class T> HG_HD auto stops_a(T a, T b) const;   // optional: not even an infinite
///                                                            // gradient passes to a where true
///
/// and gets its kernels for every dtype, its gradient, and its second derivative (from the same
/// slope, evaluated on dual numbers).
namespace halfgrad::detail {

/// Fields an op inherits when it has nothing special to say.
struct ElementwiseDefaults {
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInputs;  // what `slope` looks at
  // Of the saved operands those that slope_a, slope_b and slope_c look at. The others are not kept
  // for an operand without a gradient: they may be overwritten, or freed.
  static constexpr std::array reads = {kSavesInputs, kSavesInputs, kSavesInputs};
  static constexpr bool masks_gradient = false;  // a slope of 0 stops even an infinite gradient
  static constexpr bool integers = false;        // also defined on integers
  static constexpr bool boolean_result = false;  // yields bool: comparisons
  static constexpr bool differentiable = true;
};

/// f itself, as the engine calls it.
template <class F>
struct ValueKernel {
  static constexpr auto name = F::name;
  static constexpr bool integers = F::integers;
  F f;
  template <class... T>
  HG_HD auto operator()(T... x) const {
    return f.value(x...);
  }
};

// nvcc's device pass may find a requires-expression inside a function false where g++ finds it
// true: what a formula has is asked by a named concept.

/// F says where no gradient passes to its first operand.
template <class F, class T>
concept StopsFirstOperand = requires(const F& f, T x) {
  f.stops_a(x, x);
};

/// S says for which saved operands it stops a gradient.
template <class S, class... Saved>
concept StopsGradient = requires(const S& slope, Saved... saved) {
  slope.stops(saved...);
};

/// The partial derivative of F, an op of N operands, with respect to operand I: a function of the
/// kOperands numbers that F saves for backward.
template <class F, std::size_t I, std::size_t N>
struct Slope {
  static constexpr auto name = F::name;
  static constexpr bool masks_gradient = F::masks_gradient;
  static constexpr std::size_t kInputs = (F::saves & kSavesInputs) != 0 ? N : 0;
  static constexpr std::size_t kOutputs = (F::saves & kSavesOutput) != 0 ? 1 : 0;
  static constexpr std::size_t kOperands = kInputs + kOutputs;
  static constexpr int kOrder = 1;
  F f;

  template <class T, std::same_as<T>... Saved>
  HG_HD T at(Saved... saved) const {
    if constexpr (kInputs == 0) {
      return with_zeros<T>(std::make_index_sequence<N + 1 - kOutputs>{}, saved...);
    } else if constexpr (kOutputs == 0) {
      return partial(saved..., T(0));
    } else {
      return partial(saved...);
    }
  }

  /// Where f says so for its first operand of two.
  template <class T, class... Rest>
  HG_HD auto stops(T a, T b, Rest...) const requires(I == 0 && StopsFirstOperand<F, T>) {
    return f.stops_a(a, b);
  }

 private:
  /// Zeros for what f does not look at.
  template <class T, std::size_t... K, class... Saved>
  HG_HD T with_zeros(std::index_sequence<K...>, Saved... saved) const {
    return partial((static_cast<void>(K), T(0))..., saved...);
  }

  /// Of the operands and, last, the output.
  template <class... T>
  HG_HD auto partial(T... x) const {
    if constexpr (N == 1) {
      return f.slope(x...);
    } else if constexpr (I == 0) {
      return f.slope_a(x...);
    } else if constexpr (I == 1) {
      return f.slope_b(x...);
    } else {
      return f.slope_c(x...);
    }
  }
};

/// The derivative of a slope needs no formula: it is that of the slope on dual numbers.
template <class F, std::size_t I, std::size_t N, std::size_t K, std::size_t M>
struct Slope<Slope<F, I, N>, K, M> {
  static constexpr auto name = F::name;
  static constexpr bool masks_gradient = F::masks_gradient;
  static constexpr std::size_t kOperands = M;
  static constexpr int kOrder = Slope<F, I, N>::kOrder + 1;
  Slope<F, I, N> f;

  template <class T, std::same_as<T>... Saved>
  HG_HD T at(Saved... saved) const {
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
      return f.template at<Dual<T>>(Dual<T>{saved, T(J == K ? 1 : 0)}...).derivative;
    }
    (std::make_index_sequence<M>{});
  }

  template <class... T>
  HG_HD auto stops(T... saved) const requires StopsGradient<Slope<F, I, N>, T...> {
    return f.stops(saved...);
  }
};

/// dy * slope, in one pass over dy and what was saved.
template <class S>
struct GradientKernel {
  static constexpr auto name = S::name;
  static constexpr bool rare = S::kOrder > 1;
  static constexpr bool integers = false;
  S slope;

  template <class T, class... Saved>
  HG_HD T operator()(T dy, Saved... saved) const {
    const T s = slope.template at<T>(saved...);
    if constexpr (S::masks_gradient) {
      return select(s == T(0), T(0), dy * s);
    } else if constexpr (StopsGradient<S, Saved...>) {
      return select(slope.stops(saved...), T(0), dy * s);
    } else {
      return dy * s;
    }
  }
};

/// Derivatives of an op are compiled up to this order.
inline constexpr int kMaxOrder = 3;

/// The gradient of an op, dx = dy s(x), as an op of its own, so that it can be differentiated
/// again. Its operands are dy and those of the slope s.
template <class S, int kOrder = 1>
struct Gradient {
  static constexpr auto name = S::name;
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = S::kOperands == 0 ? kSavesNothing : kSavesInputs;
  S slope;
  DType compute;

  template <class... Saved>
  Array forward(const Array& dy, const Saved&... saved) const {
    Array dx = Array::empty(dy.sizes(), compute, dy.device());
    elementwise(GradientKernel<S>{slope}, compute, dx, dy, saved...);
    return dx;
  }

  // With the cotangent c: by dy it is c s(x), by x_k it is (c dy) ds/dx_k, each a gradient again.
  void backward(const Backward<1 + S::kOperands>& b) const {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      if (b.needs(0)) b.set(0, apply(*this, b.grad(), b.input(1 + K)...));
      ((b.needs(1 + K) ? b.set(1 + K, by_operand<K>(b, b.input(1 + K)...)) : void()), ...);
    }
    (std::make_index_sequence<S::kOperands>{});
  }

 private:
  template <std::size_t K, class... Saved>
  Tensor by_operand(const Backward<1 + S::kOperands>& b, const Saved&... saved) const {
    if constexpr (kOrder == kMaxOrder) {
      throw std::runtime_error("backward: expected at most third derivatives of '" +
                               std::string(name) + "', got a graph that asks for more");
    } else {
      using Derivative = Gradient<Slope<S, K, S::kOperands>, kOrder + 1>;
      return apply(Derivative{{slope}, compute}, mul(b.grad(), b.input(0)), saved...);
    }
  }
};

/// The op for `apply`.
template <class F, std::size_t N>
struct Elementwise {
  static constexpr auto name = F::name;
  static constexpr auto precision = F::precision;
  static constexpr unsigned saves = F::saves;
  static constexpr auto reads = F::reads;
  static constexpr bool differentiable = F::differentiable;
  F f;
  DType compute = DType::f32;

  void prepare(std::span<const Tensor> operands) {
    for (const Tensor& operand : operands) static_cast<void>(operand.array());  // defined, all
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
  template <std::size_t I>
  Tensor gradient(const Backward<N>& b) const {
    using S = Slope<F, I, N>;
    const Gradient<S> op{{f}, compute};
    // What the slope does not look at: any numbers.
    const auto read = [](std::size_t k) { return (reads[I] >> k & 1U) != 0; };
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if (GradMode::is_enabled()) {
        return apply(op, b.grad(),
                     (K >= S::kInputs ? b.output()
                      : read(K)       ? b.input(K)
                                      : b.grad().detach())...);
      }
      return Tensor(op.forward(b.grad().array(), (K >= S::kInputs ? b.output_array()
                                                  : read(K)       ? b.input_array(K)
                                                                  : b.grad().array())...));
    }
    (std::make_index_sequence<S::kOperands>{});
  }
};

/// Runs f on tensors that broadcast, in their promoted dtype.
template <class F, std::same_as<Tensor>... In>
Tensor apply_elementwise(const F& f, const In&... in) {
  return apply(Elementwise<F, sizeof...(In)>{f}, in...);
}

}  // namespace halfgrad::detail
