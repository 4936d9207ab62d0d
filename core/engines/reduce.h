#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/math/simd.h>

/// The reduction engine: out = finish(combine(map(x_0), map(x_1), ...), count) over some
/// dimensions.
///
/// R is a small struct whose members work on packs and scalars:
///
///   template <class T> static T identity();             // combine(identity, x) == x
///   template <class T> T map(T x) const;                // applied to every element
///   template <class T> T combine(T a, T b) const;       // associative up to rounding
///   template <class T> T finish(T total, std::int64_t count) const;
///
/// Floats are combined in float within a tile (on a GPU: within 16 elements of a thread), and in
/// double across tiles. The order is fixed, whatever the number of threads.
namespace halfgrad::detail {

/// All dimensions of an array, for reduce().
inline constexpr unsigned kAllDims = ~0U;

/// The type that accumulates totals across tiles.
template <class T>
using total_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// The part of a reduction that one thread computes. Every kPerFlush elements are combined in T,
/// and the result is added to the wider total.
template <class T, class R>
class Accumulator {
 public:
  HG_HD explicit Accumulator(const R& r)
      : r_(r), part_(r.template identity<T>()), total_(static_cast<total_t<T>>(part_)) {}

  HG_HD void add(T x) {
    part_ = r_.combine(part_, r_.map(x));
    if (++count_ == kPerFlush) flush();
  }
  HG_HD total_t<T> total() {
    flush();
    return total_;
  }

 private:
  static constexpr int kPerFlush = 16;

  HG_HD void flush() {
    total_ = r_.combine(total_, static_cast<total_t<T>>(part_));
    part_ = r_.template identity<T>();
    count_ = 0;
  }

  const R& r_;
  T part_;
  total_t<T> total_;
  int count_ = 0;
};

/// A reduction's functions on the CPU, with its type erased: run_reduce() is compiled once for all.
template <class T>
struct ReduceKernels {
  const void* reduction;
  T (*row)(const void* r, const T* x, std::int64_t n);                    // reduces one tile
  void (*columns)(const void* r, const T* x, T* totals, std::int64_t n);  // into totals[i]
  total_t<T> (*combine)(const void* r, total_t<T> a, total_t<T> b);
  total_t<T> (*finish)(const void* r, total_t<T> total, std::int64_t count);
  T identity;
};

/// Reduces `in` over the dimensions whose bit is set in `dims`. `out` has one element for each
/// index of the other dimensions, in row-major order.
template <class T>
void run_reduce(const ReduceKernels<T>& kernels, const Array& out, const Array& in, unsigned dims);

template <class R, class T>
T reduce_row(const void* reduction, const T* x, std::int64_t n) {
  const R& r = *static_cast<const R*>(reduction);
  constexpr std::int64_t kWidth = Pack<T>::size;
  Pack<T> totals[4] = {r.template identity<Pack<T>>(), r.template identity<Pack<T>>(),
                       r.template identity<Pack<T>>(), r.template identity<Pack<T>>()};
  std::int64_t i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
    for (int k = 0; k < 4; ++k) {
      totals[k] = r.combine(totals[k], r.map(Pack<T>::load(x + i + k * kWidth)));
    }
  }
  for (; i + kWidth <= n; i += kWidth) {
    totals[0] = r.combine(totals[0], r.map(Pack<T>::load(x + i)));
  }
  alignas(sizeof(Pack<T>)) T lanes[kWidth];
  r.combine(r.combine(totals[0], totals[1]), r.combine(totals[2], totals[3])).store(lanes);
  if (i < n) {
    alignas(sizeof(Pack<T>)) T rest[kWidth];
    r.map(load_up_to(x + i, n - i)).store(rest);
    for (std::int64_t k = 0; k < n - i; ++k) lanes[k] = r.combine(lanes[k], rest[k]);
  }
  T total = lanes[0];
  for (std::int64_t k = 1; k < kWidth; ++k) total = r.combine(total, lanes[k]);
  return total;
}

template <class R, class T>
void reduce_columns(const void* reduction, const T* x, T* totals, std::int64_t n) {
  const R& r = *static_cast<const R*>(reduction);
  const auto step = [&r](auto total, auto value) { return r.combine(total, r.map(value)); };
  const T* const operands[] = {totals, x};
  map_tile(step, totals, operands, n, std::index_sequence<0, 1>{});
}

template <class T, class R>
void reduce_on_cpu(const R& r, const Array& out, const Array& in, unsigned dims) {
  const ReduceKernels<T> kernels{&r,
                                 reduce_row<R, T>,
                                 reduce_columns<R, T>,
                                 [](const void* p, total_t<T> a, total_t<T> b) {
                                   return static_cast<const R*>(p)->combine(a, b);
                                 },
                                 [](const void* p, total_t<T> total, std::int64_t count) {
                                   return static_cast<const R*>(p)->finish(total, count);
                                 },
                                 r.template identity<T>()};
  run_reduce(kernels, out, in, dims);
}

/// Runs on the GPU that holds `out`: core/cuda/engines/reduce_cuda.h.
template <class T, class R>
void reduce_on_cuda(const R& r, const Array& out, const Array& in, unsigned dims);

template <class T, class R>
void reduce_in(const R& r, const Array& out, const Array& in, unsigned dims) {
  if constexpr (kWithCuda) {
    if (out.device().is_cuda()) return reduce_on_cuda<T>(r, out, in, dims);
  }
  if constexpr (kWithCpu) reduce_on_cpu<T>(r, out, in, dims);
}

/// Reduces `in` by `r` over the dimensions whose bit is set in `dims`, as run_reduce() says, in the
/// compute type of `compute`. The result is rounded once, to the dtype of `out`.
template <class R>
void reduce(const R& r, DType compute, const Array& out, const Array& in, unsigned dims) {
  expect_one_device("reduce", out, std::array{&in});
  if (compute == DType::f64) {
    reduce_in<double>(r, out, in, dims);
  } else if (is_floating_point(compute) || !TakesIntegers<R>) {
    reduce_in<float>(r, out, in, dims);
  } else if constexpr (TakesIntegers<R>) {
    reduce_in<std::int64_t>(r, out, in, dims);
  }
}

}  // namespace halfgrad::detail

#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/reduce_cuda.h>
#endif
