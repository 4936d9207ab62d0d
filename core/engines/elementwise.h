#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/copy.h>
#include <halfgrad/core/engines/tile.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/math/simd.h>

/// The elementwise engine: out[i] = f(a[i], b[i], ...) for operands that broadcast to `out`.
///
/// f is a functor with a templated call operator, written once: `template <class T> HG_HD T
/// operator()(T a, T b) const`. T is a SIMD pack on the CPU and a scalar on a GPU. Operands of any
/// dtype are widened when loaded; the result is rounded once when stored.
namespace halfgrad::detail {

template <class T>
using TileKernel = void (*)(const void* f, T* out, const T* const* in, std::int64_t n);

/// Runs `kernel` on every tile, in parallel for large arrays.
template <class T>
void run_tiles(TileKernel<T> kernel, const void* f, const Array& out, const Array* const* in,
               int inputs);

#if defined(__AVX__)
/// Returns a mask of the first `count` lanes of T.
template <class T>
__m256i first_lanes(std::int64_t count) {
  static constexpr std::int32_t kWords[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  const std::int32_t* const first = kWords + 8 - count * static_cast<std::int64_t>(sizeof(T)) / 4;
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
}

/// Loads the first `count` lanes; the others are 0. Does not read memory after them.
template <class T>
Pack<T> load_up_to(const T* source, std::int64_t count) {
  const __m256i mask = first_lanes<T>(count);
  const __m256 lanes = _mm256_maskload_ps(reinterpret_cast<const float*>(source), mask);
  typename Pack<T>::Lanes values;
  std::memcpy(&values, &lanes, sizeof(values));
  return Pack<T>(values);
}

/// Stores the first `count` lanes.
template <class T>
void store_up_to(Pack<T> pack, T* target, std::int64_t count) {
  const __m256i mask = first_lanes<T>(count);
  const auto values = pack.lanes();
  __m256 lanes;
  std::memcpy(&lanes, &values, sizeof(lanes));
  _mm256_maskstore_ps(reinterpret_cast<float*>(target), mask, lanes);
}
#else
template <class T>
Pack<T> load_up_to(const T* source, std::int64_t count) {
  alignas(sizeof(Pack<T>)) T lanes[Pack<T>::size] = {};
  std::memcpy(lanes, source, static_cast<std::size_t>(count) * sizeof(T));
  return Pack<T>::load(lanes);
}

template <class T>
void store_up_to(Pack<T> pack, T* target, std::int64_t count) {
  alignas(sizeof(Pack<T>)) T lanes[Pack<T>::size];
  pack.store(lanes);
  std::memcpy(target, lanes, static_cast<std::size_t>(count) * sizeof(T));
}
#endif

template <class F, class T, std::size_t... I>
void map_tile(const F& f, T* out, const T* const* in, std::int64_t n, std::index_sequence<I...>) {
  constexpr std::int64_t kWidth = Pack<T>::size;
  std::int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) f(Pack<T>::load(in[I] + i)...).store(out + i);
  if (i < n) store_up_to(f(load_up_to(in[I] + i, n - i)...), out + i, n - i);
}

inline constexpr int kMaxInputs = 5;

template <class T, class F, class... In>
void elementwise_on_cpu(const F& f, const Array& out, const In&... in) {
  static_assert(sizeof...(In) <= kMaxInputs);
  const std::array<const Array*, sizeof...(In)> operands{&in...};
  const TileKernel<T> kernel = [](const void* functor, T* o, const T* const* i, std::int64_t n) {
    map_tile(*static_cast<const F*>(functor), o, i, n, std::index_sequence_for<In...>{});
  };
  run_tiles<T>(kernel, &f, out, operands.data(), sizeof...(In));
}

/// Runs on the GPU that holds `out`: core/cuda/engines/elementwise_cuda.h.
template <class T, class F, class... In>
void elementwise_on_cuda(const F& f, const Array& out, const In&... in);

template <class T, class F, class... In>
void elementwise_in(const F& f, const Array& out, const In&... in) {
  if constexpr (kWithCuda) {
    if (out.device().is_cuda()) return elementwise_on_cuda<T>(f, out, in...);
  }
  if constexpr (kWithCpu) elementwise_on_cpu<T>(f, out, in...);
}

/// Converts `number` to an operand of type T: a scalar, a Pack or a Dual.
template <class T>
HG_HD T as(const Scalar& number) {
  return T(number.cast<scalar_t<T>>());
}

/// True for functors that also accept integers: `static constexpr bool integers = true`.
template <class F>
concept TakesIntegers = F::integers;

/// Computes f in the compute type of `compute` and stores the result in `out`. The operands must
/// broadcast to the shape of `out`, which aliases each of them exactly or does not overlap it.
template <class F, class... In>
void elementwise(const F& f, DType compute, const Array& out, const In&... in) {
  expect_one_device("elementwise", out, std::array{&in...});
  if (compute == DType::f64) {
    elementwise_in<double>(f, out, in...);
  } else if (is_floating_point(compute) || !TakesIntegers<F>) {
    elementwise_in<float>(f, out, in...);
  } else if constexpr (TakesIntegers<F>) {
    elementwise_in<std::int64_t>(f, out, in...);
  }
}

}  // namespace halfgrad::detail

#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/elementwise_cuda.h>
#endif
