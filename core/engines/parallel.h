#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/device.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/thread_pool.h>
#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/for_each.h>
#endif

/// The simplest engine, for work that is neither elementwise nor row by row (gather, sums over
/// groups): it calls a functor once for every index, on any device.
namespace halfgrad::detail {

/// Calls f(i) for every i in [0, n), in any order and concurrently: in chunks on the threads of the
/// CPU, with one thread per index on a GPU, queued on the current stream for `op`. A call must not
/// write what another call reads or writes.
///
/// F is a struct of pointers and scalars with `HG_HD void operator()(std::int64_t i) const`. Its
/// pointers are to memory of `device`.
template <class F>
void parallel_for_each([[maybe_unused]] const char* op, [[maybe_unused]] Device device,
                       std::int64_t n, const F& f) {
#if defined(HALFGRAD_CUDA)
  if (device.is_cuda()) return launch_for_each(op, device, n, f);
#endif
  constexpr std::int64_t kCallsPerChunk = 32 * 1024;
  parallel_for(0, n, kCallsPerChunk, [&f](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

/// Splits a row-major index into row and column. A 32-bit division is several times faster.
template <class F>
struct RowsAndColumns {
  F f;
  std::int64_t columns;
  bool short_index;

  HG_HD void operator()(std::int64_t i) const {
    const std::int64_t row = short_index
                                 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(i) /
                                                             static_cast<std::uint32_t>(columns))
                                 : i / columns;
    f(row, i - row * columns);
  }
};

/// Calls f(row, column) for every row in [0, rows) and column in [0, columns). On a GPU,
/// neighbouring columns are neighbouring threads; on the CPU they are an inner loop. `work` is the
/// number of elements that each call reads: chunks on the CPU are smaller where it is larger.
template <class F>
void parallel_for_each([[maybe_unused]] const char* op, [[maybe_unused]] Device device,
                       std::int64_t rows, std::int64_t columns, const F& f, std::int64_t work = 1) {
  if (columns == 0) return;
#if defined(HALFGRAD_CUDA)
  if (device.is_cuda()) {
    const RowsAndColumns<F> flat{f, columns, rows * columns <= INT32_MAX};
    return launch_for_each(op, device, rows * columns, flat);
  }
#endif
  constexpr std::int64_t kCallsPerChunk = 32 * 1024;
  const std::int64_t grain = std::max<std::int64_t>(1, kCallsPerChunk / columns / work);
  parallel_for(0, rows, grain, [&f, columns](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) f(row, column);
    }
  });
}

}  // namespace halfgrad::detail
