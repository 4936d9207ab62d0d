#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/math/simd.h>

/// The row engine, for operations that need a whole row at a time (softmax, layer_norm, losses).
///
/// A row kernel is a functor `void operator()(Team& team, Row<const T> x, ..., Row<T> y, ...)
/// const` that gets one row of every operand, and a Team to run on. The functor states what is
/// computed at an index and what is summed over the row. The Team decides how many workers share
/// the row.
namespace halfgrad::detail {

/// Consecutive elements of a row that one SIMD instruction handles: the index type of SimdTeam.
struct LaneRange {
  std::int64_t begin;
  std::int64_t count;  // less than the pack size at the end of a row
};

/// One row of an operand, in the compute type.
template <class T>
class Row {
  using Value = std::remove_const_t<T>;

 public:
  HG_HD Row(T* data, std::int64_t size) : data_(data), size_(size) {}

  HG_HD T* data() const { return data_; }
  HG_HD std::int64_t size() const { return size_; }
  HG_HD Value operator()(std::int64_t i) const { return data_[i]; }
  Pack<Value> operator()(LaneRange i) const {
    return i.count == Pack<Value>::size ? Pack<Value>::load(data_ + i.begin)
                                        : load_up_to<Value>(data_ + i.begin, i.count);
  }
  HG_HD void set(std::int64_t i, Value value) const { data_[i] = value; }
  void set(LaneRange i, Pack<Value> value) const {
    if (i.count == Pack<Value>::size) {
      value.store(data_ + i.begin);
    } else {
      store_up_to(value, data_ + i.begin, i.count);
    }
  }

 private:
  T* data_;
  std::int64_t size_;
};

// The members SimdTeam::sum and max hide the functions of the same name on packs, so these forward
// to them.
template <class T>
T sum_of(Pack<T> x) {
  return sum(x);
}
template <class T>
T max_of(Pack<T> x) {
  return max(x);
}

/// The Team on the CPU: one thread that handles one pack at a time.
template <class T>
class SimdTeam {
 public:
  /// Calls f(i) for every index of a row of n elements.
  template <class F>
  void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = 0; i < n; i += Pack<T>::size) f(lanes(i, n));
  }
  /// Returns the sum of f(i). Floats are added in float within a tile and in double across tiles.
  template <class F>
  T sum(std::int64_t n, const F& f) const {
    double total = 0;
    for (std::int64_t tile = 0; tile < n; tile += kTile) {
      Pack<T> part(T(0));
      for (std::int64_t i = tile; i < std::min(n, tile + kTile); i += Pack<T>::size) {
        part = part + kept(f(lanes(i, n)), lanes(i, n), T(0));
      }
      total += static_cast<double>(sum_of(part));
    }
    return static_cast<T>(total);
  }
  /// Returns the largest f(i): NaN if any is NaN, -inf if n is 0.
  template <class F>
  T max(std::int64_t n, const F& f) const {
    constexpr T kLowest = -std::numeric_limits<T>::infinity();
    Pack<T> largest(kLowest);
    for (std::int64_t i = 0; i < n; i += Pack<T>::size) {
      const Pack<T> x = kept(f(lanes(i, n)), lanes(i, n), kLowest);
      largest = select((largest >= x) | (largest != largest), largest, x);
    }
    return max_of(largest);
  }
  /// Calls f() in one worker.
  template <class F>
  void once(const F& f) const {
    f();
  }

 private:
  static LaneRange lanes(std::int64_t i, std::int64_t n) {
    return {i, std::min<std::int64_t>(Pack<T>::size, n - i)};
  }
  // Returns x in the lanes inside the row, `otherwise` in the lanes after its end.
  static Pack<T> kept(Pack<T> x, LaneRange i, T otherwise) {
    if (i.count == Pack<T>::size) return x;
    alignas(sizeof(Pack<T>)) static constexpr auto kLanes = [] {
      std::array<T, Pack<T>::size> lanes{};
      for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] = static_cast<T>(k);
      return lanes;
    }();
    return select(Pack<T>::load(kLanes.data()) < Pack<T>(i.count), x, Pack<T>(otherwise));
  }
};

template <class T>
using RowKernel = void (*)(const void* f, const Row<const T>* in, const Row<T>* out);

/// Runs `kernel` on every row. The operands, `in` then `out`, are matrices with the same number of
/// rows.
template <class T>
void run_rows(RowKernel<T> kernel, const void* f, std::int64_t rows, const Array* const* in,
              int inputs, const Array* const* out, int outputs);

template <class T, class F, std::size_t... I, std::size_t... O>
void rows_on_cpu(const F& f, std::int64_t rows, const Array* const* in, const Array* const* out,
                 std::index_sequence<I...>, std::index_sequence<O...>) {
  const RowKernel<T> kernel = [](const void* functor, const Row<const T>* i, const Row<T>* o) {
    SimdTeam<T> team;
    (*static_cast<const F*>(functor))(team, i[I]..., o[O]...);
  };
  run_rows<T>(kernel, &f, rows, in, sizeof...(I), out, sizeof...(O));
}

/// Runs on the GPU that holds the operands: core/cuda/engines/rows_cuda.h.
template <class T, class F, std::size_t... I, std::size_t... O>
void rows_on_cuda(const F& f, std::int64_t rows, const Array* const* in, const Array* const* out,
                  std::index_sequence<I...>, std::index_sequence<O...>);

/// Calls f on every row of the matrices `in` and `out`; each has `rows` rows and its own number of
/// columns. Computes in double if `compute` is f64, else in float. The matrices may be strided or
/// expanded.
template <class F, std::size_t I, std::size_t O>
void parallel_rows(const F& f, DType compute, std::int64_t rows,
                   const std::array<const Array*, I>& in, const std::array<const Array*, O>& out) {
  expect_one_device("parallel_rows", *out[0], in);
  expect_one_device("parallel_rows", *out[0], out);
  const auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr std::make_index_sequence<I> kInputs;
    constexpr std::make_index_sequence<O> kOutputs;
    if constexpr (kWithCuda) {
      if (out[0]->device().is_cuda()) {
        return rows_on_cuda<T>(f, rows, in.data(), out.data(), kInputs, kOutputs);
      }
    }
    if constexpr (kWithCpu) rows_on_cpu<T>(f, rows, in.data(), out.data(), kInputs, kOutputs);
  };
  if (compute == DType::f64) {
    run(std::type_identity<double>{});
  } else {
    run(std::type_identity<float>{});
  }
}

}  // namespace halfgrad::detail

#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/rows_cuda.h>
#endif
