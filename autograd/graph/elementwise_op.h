#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/error.h>
#include <halfgrad/core/math/dual.h>
#include <halfgrad/core/math/math.h>

/// Elementwise ops. Each is one struct F, for example Softplus in ops/softplus.cpp, that states the
/// formula and its derivative:
///
///   template <class T> HG_HD T value(T x) const;              // or value(a, b), value(a, b, c)
///   template <class T> HG_HD T slope(T x, T y) const;         // dy/dx, where y = value(x)
///   template <class T> HG_HD T slope_a(T a, T b, T y) const;  // two operands: dy/da, and slope_b
///   template <class T> HG_HD auto stops_a(T a, T b) const;    // optional: where true, da is 0
///
/// Kernels for every dtype, the gradient and the second derivative follow from them. The second
/// derivative is `slope` evaluated on dual numbers (core/math/dual.h).
namespace halfgrad::detail {

/// The properties of an op, with their usual values. F inherits them and hides those that differ.
struct ElementwiseDefaults {
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInputs;  // operands that `slope` reads
  // The operands that each partial derivative reads: slope_a, slope_b, slope_c. The others are not
  // saved if only this derivative is needed, so they may be overwritten or freed.
  static constexpr std::array reads = {kSavesInputs, kSavesInputs, kSavesInputs};
  static constexpr bool masks_gradient = false;  // a slope of 0 stops even an infinite gradient
  static constexpr bool integers = false;        // also defined on integers
  static constexpr bool boolean_result = false;  // returns bool: comparisons
  static constexpr bool differentiable = true;
};

/// F::value as a kernel of the elementwise engine.
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

// Optional members of F are tested by named concepts: in nvcc's device pass a requires-expression
// inside a function may be false where it is true for g++.

/// F states where no gradient passes to its first operand.
template <class F, class T>
concept StopsFirstOperand = requires(const F& f, T x) {
  f.stops_a(x, x);
};

/// S states for which saved operands it stops a gradient.
template <class S, class... Saved>
concept StopsGradient = requires(const S& slope, Saved... saved) {
  slope.stops(saved...);
};

/// Whether the partial derivative of F with respect to operand I reads operand i of N; i = N stands
/// for the output.
template <class F, std::size_t I, std::size_t N>
constexpr bool slope_reads(std::size_t i) {
  if (i == N) return (F::saves & kSavesOutput) != 0;
  return contains(F::saves & F::reads[I], i);
}

/// Returns how many of the first n operands this derivative reads.
template <class F, std::size_t I, std::size_t N>
constexpr std::size_t count_slope_operands(std::size_t n) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += slope_reads<F, I, N>(i) ? 1 : 0;
  return count;
}

/// The partial derivative of F, an op of N operands, with respect to operand I. It is a function of
/// the kOperands values that it reads: operands in their order, then the output.
template <class F, std::size_t I, std::size_t N>
struct Slope {
  static constexpr auto name = F::name;
  static constexpr bool masks_gradient = F::masks_gradient;
  static constexpr int kOrder = 1;
  F f;
  static constexpr std::size_t kOperands = count_slope_operands<F, I, N>(N + 1);

  template <class T, std::same_as<T>... Saved>
  HG_HD T at(Saved... saved) const {
    const T values[] = {saved..., T(0)};
    return with_zeros(values, std::make_index_sequence<N + 1>{});
  }

  /// True where no gradient passes to the first of two operands; the slope of such an f reads both.
  template <class T, class... Rest>
  HG_HD auto stops(T a, T b, Rest...) const requires(I == 0 && StopsFirstOperand<F, T>) {
    return f.stops_a(a, b);
  }

 private:
  /// The index of operand i among the saved values, or of the zero after them.
  template <std::size_t i>
  static constexpr std::size_t kIndex = slope_reads<F, I, N>(i) ? count_slope_operands<F, I, N>(i)
                                                                : kOperands;

  template <class T, std::size_t... K>
  HG_HD T with_zeros(const T* values, std::index_sequence<K...>) const {
    return partial(values[kIndex<K>]...);
  }

  /// Takes all operands and, last, the output.
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

/// The derivative of a slope: the slope evaluated on dual numbers, so it needs no formula.
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

/// dx = dy * slope, in one pass over dy and the saved values.
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

/// The gradient of an op, dx = dy s(x), as an op itself, so that it can be differentiated again.
/// Its operands are dy and those that the slope s reads.
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

  // The two derivatives, for the cotangent c, are gradients again:
  //
  //     by dy:   c s(x)
  //     by x_k:  (c dy) ds/dx_k
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
      throw halfgrad::detail::Raised<std::runtime_error>(
          "backward: expected at most third derivatives of '" + std::string(name) +
          "', got one of a higher order");
    } else {
      using Derivative = Gradient<Slope<S, K, S::kOperands>, kOrder + 1>;
      return apply(Derivative{{slope}, compute}, mul(b.grad(), b.input(0)), saved...);
    }
  }
};

/// The struct F as an op for apply().
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
    for (const Tensor& operand : operands)
      static_cast<void>(operand.array());  // throws if undefined
    compute = result_type(operands);
    if (!F::integers && !is_floating_point(compute)) compute = get_default_dtype();
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
    constexpr auto kRead = slope_operands<I>();
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if (GradMode::is_enabled()) {
        return apply(op, b.grad(), (kRead[K] == N ? b.output() : b.input(kRead[K]))...);
      }
      return Tensor(op.forward(b.grad().array(),
                               (kRead[K] == N ? b.output_array() : b.input_array(kRead[K]))...));
    }
    (std::make_index_sequence<S::kOperands>{});
  }

  /// The operands that the slope reads, in order; N stands for the output.
  template <std::size_t I>
  static constexpr auto slope_operands() {
    std::array<std::size_t, Slope<F, I, N>::kOperands> read{};
    std::size_t count = 0;
    for (std::size_t i = 0; i <= N; ++i) {
      if (slope_reads<F, I, N>(i)) read[count++] = i;
    }
    return read;
  }
};

/// Returns f of tensors that broadcast, computed in their promoted dtype.
template <class F, std::same_as<Tensor>... In>
Tensor apply_elementwise(const F& f, const In&... in) {
  return apply(Elementwise<F, sizeof...(In)>{f}, in...);
}

}  // namespace halfgrad::detail
