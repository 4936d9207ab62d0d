#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/engines/row_packs.h>
#include <halfgrad/core/cuda/engines/rows_cuda.h>
#include <halfgrad/core/math/math.h>

/// Rows of logits on a GPU: their logsumexp, and the gradient of cross entropy.
///
///     lse = log(sum_j exp(x_j)) = m + log(sum_j exp(x_j - m)),   m = max_j x_j
namespace halfgrad::detail {

inline constexpr int kFewClasses = 32;         ///< a thread takes a row of up to so many
inline constexpr int kMostClassThreads = 512;  ///< in a block

/// logsumexp as max + log_sum. They are not added: x - logsumexp(x) cancels for large logits.
struct LogSumExp {
  float max, log_sum;

  __device__ float value() const { return max + log_sum; }
};

/// Returns the larger one, NaN if either is NaN.
inline __device__ float larger(float a, float b) { return a >= b || a != a ? a : b; }

/// Returns exp(x - m) for x <= m. If m is -inf, so is x: 1 then, since inf - inf would be NaN.
inline __device__ float exp_below(float x, float m) {
  return m == -std::numeric_limits<float>::infinity() ? 1 : math::exp(x - m);
}

/// Returns the sum of exp(x - to) for a sum of exp(x - from), from <= to. Rounded, so that the sum
/// of two results is not contracted to a fused multiply-add.
inline __device__ float sum_below(float from, float sum, float to) {
  return __fmul_rn(sum, exp_below(from, to));
}

/// Accumulates the maximum m and the sum of exp(x - m) in one pass: a larger m rescales the sum
/// (Milakov and Gimelshein 2018, algorithm 3).
class OnlineLogSumExp {
 public:
  __device__ void add(const float (&x)[kPerThread]) {
    const float before = max_;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) max_ = larger(max_, x[i]);
    float part = 0;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) part += exp_below(x[i], max_);
    sum_ = sum_ * exp_below(before, max_) + part;
  }
  __device__ LogSumExp total(const Group& group) const {
    const float max = group.combine(max_, larger);
    const float sum = sum_below(max_, sum_, max);
    return {max, math::log(group.combine(sum, [](float a, float b) { return a + b; }))};
  }

  __device__ float max() const { return max_; }
  __device__ float sum() const { return sum_; }

 private:
  float max_ = -std::numeric_limits<float>::infinity();
  float sum_ = 0;
};

/// Adds pairs of neighbours until one value is left, as the lanes of a warp do.
template <class T, int kCount>
__device__ T add_by_pairs(T (&values)[kCount]) {
#pragma unroll
  for (int distance = 1; distance < kCount; distance *= 2) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2 * distance) values[i] += values[i + distance];
  }
  return values[0];
}

/// The logsumexp of n <= kMost logits in one thread, in packs. The bits are those of
/// OnlineLogSumExp in a warp.
template <int kMost>
__device__ LogSumExp log_sum_exp_of_few_packs(const float* x, int n) {
  constexpr int kPacks = kMost / kPerThread;
  float maxima[kPacks], sums[kPacks];
  float max = -std::numeric_limits<float>::infinity();
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    OnlineLogSumExp pack;
    if (k * kPerThread < n) {
      float values[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) values[i] = x[k * kPerThread + i];
      pack.add(values);
    }
    maxima[k] = pack.max();
    sums[k] = pack.sum();
    max = larger(max, maxima[k]);
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) sums[k] = sum_below(maxima[k], sums[k], max);
  return {max, math::log(add_by_pairs(sums))};
}

/// The logsumexp of n <= kMost logits in one thread. The bits are those of log_sum_exp_of in a
/// warp.
template <int kMost>
__device__ LogSumExp log_sum_exp_of_few(const float* x, int n) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  if (n % kPerThread == 0) return log_sum_exp_of_few_packs<kMost>(x, n);
  float values[kMost];  // exp(-inf) = 0 beyond the row
  float max = kLowest;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    values[i] = i < n ? x[i] : kLowest;
    max = larger(max, values[i]);
  }
  double terms[kMost];
#pragma unroll
  for (int i = 0; i < kMost; ++i) terms[i] = static_cast<double>(math::exp(values[i] - max));
  return {max, math::log(static_cast<float>(add_by_pairs(terms)))};
}

/// Contiguous rows of logits, aligned to 16 bytes.
struct LogitRows {
  explicit LogitRows(const Array& x) : LogitRows(x, x.data()) {}
  LogitRows(const Array& x, std::byte* address)
      : data(address), dtype(x.dtype()), rows(x.size(0)), columns(x.size(1)) {}

  HG_HD bool in_packs() const { return columns % kPerThread == 0; }
  bool by_block() const { return rows_by_block(columns); }

  __device__ float at(std::int64_t row, std::int64_t column) const {
    return load<float>(data, dtype, row * columns + column);
  }
  /// Calls f(offset, column, values, count) for this thread's elements of a row: packs, or single
  /// elements if rows are not whole packs.
  template <class F>
  __device__ void each(const Group& group, std::int64_t row, const F& f) const {
    const std::int64_t first = row * columns;
    if (in_packs()) {
      for (std::int64_t column = static_cast<std::int64_t>(group.rank()) * kPerThread;
           column < columns; column += static_cast<std::int64_t>(group.size()) * kPerThread) {
        float x[kPerThread];
        load_packed(data, dtype, first + column, kPerThread, x);
        f(first + column, column, x);
      }
    } else {
      for (std::int64_t column = group.rank(); column < columns; column += group.size()) {
        float x[1] = {load<float>(data, dtype, first + column)};
        f(first + column, column, x);
      }
    }
  }
  /// Stores values at the offset that each() gave, in an array like this one.
  __device__ void store(std::byte* to, std::int64_t offset,
                        const float (&values)[kPerThread]) const {
    store_packed(to, dtype, offset, kPerThread, values);
  }
  __device__ void store(std::byte* to, std::int64_t offset, const float (&value)[1]) const {
    detail::store(to, dtype, offset, value[0]);
  }

  std::byte* data;
  DType dtype;
  std::int64_t rows, columns;
};

/// The logsumexp of a row in a group. Whole packs are read once, and the maximum grows along the
/// row. Other rows are read twice, and their terms are added in double, as row functors do. Rows is
/// LogitRows, or a type with the same members.
template <class Rows>
__device__ LogSumExp log_sum_exp_of(const Group& group, const Rows& x, std::int64_t row) {
  if (x.in_packs()) {
    OnlineLogSumExp online;
    x.each(group, row, [&](std::int64_t, std::int64_t, const auto& values) {
      if constexpr (std::extent_v<std::remove_reference_t<decltype(values)>> == kPerThread) {
        online.add(values);
      }
    });
    return online.total(group);
  }
  const CudaTeam<float, Group> team(group);
  const auto at = [&](std::int64_t i) { return x.at(row, i); };
  const float max = team.max(x.columns, at);
  const float sum = team.sum(x.columns, [&](std::int64_t i) { return math::exp(at(i) - max); });
  return {max, math::log(sum)};
}

/// dx_i = factor exp(x_i - lse) - factor [i = t], 0 for t < 0. Rounded after the product, as row
/// functors do, whose product is in memory before they subtract.
struct ClassGradient {
  float factor, lse;
  std::int64_t target;

  __device__ float operator()(float x, std::int64_t i) const {
    if (target < 0) return 0;
    const float product = __fmul_rn(factor, math::exp(x - lse));
    return i == target ? __fsub_rn(product, factor) : product;
  }
};

/// The rows of a block, one for each thread, widened in shared memory. The stride of a row is odd,
/// so that the threads' accesses meet no bank conflicts.
struct StagedRows {
  __device__ StagedRows(const LogitRows& x, float* shared)
      : first(static_cast<std::int64_t>(blockIdx.x) * kRowThreads),
        columns(static_cast<int>(x.columns)),
        elements(static_cast<int>(std::min(x.rows - first, std::int64_t{kRowThreads})) * columns),
        staged(shared) {}

  static std::size_t bytes(const LogitRows& x) {
    return kRowThreads * static_cast<std::size_t>(x.columns | 1) * sizeof(float);
  }
  __device__ float* row(unsigned thread) const { return staged + thread * (columns | 1); }

  __device__ void load(const LogitRows& x) const {
    each_pack([&](int at, int count) {
      float values[kPerThread];
      load_packed(x.data, x.dtype, first * columns + at, count, values);
      each_element(at, count, [&](int i, float& element) { element = values[i]; });
    });
  }
  __device__ void store(const LogitRows& x, std::byte* to) const {
    each_pack([&](int at, int count) {
      float values[kPerThread];
      each_element(at, count, [&](int i, const float& element) { values[i] = element; });
      store_packed(to, x.dtype, first * columns + at, count, values);
    });
  }

  std::int64_t first;  ///< row
  int columns, elements;
  float* staged;

 private:
  template <class F>
  __device__ void each_pack(const F& f) const {
    for (int at = static_cast<int>(threadIdx.x) * kPerThread; at < elements;
         at += kRowThreads * kPerThread) {
      f(at, pack_count(at, elements));
    }
  }
  template <class F>
  __device__ void each_element(int at, int count, const F& f) const {
    int row_of_element = at / columns, column = at - row_of_element * columns;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      if (i >= count) continue;
      f(i, staged[row_of_element * (columns | 1) + column]);
      if (++column == columns) {
        column = 0;
        ++row_of_element;
      }
    }
  }
};

}  // namespace halfgrad::detail
