#pragma once

#include <cstdint>

#include <halfgrad/core/language.h>

namespace halfgrad {

/// Sets how many threads, the caller included, share the work of parallel_for. Affects speed only,
/// never results. Throws std::invalid_argument when `count` < 1 or from a chunk run in parallel.
void set_num_threads(int count);

/// At first the environment's HALFGRAD_NUM_THREADS, or else the number of hardware threads.
/// Throws std::runtime_error when that variable is not a positive integer.
int get_num_threads();

namespace detail {

using ChunkFunction = void (*)(const void* functor, int64_t begin, int64_t end);

void run_chunks(int64_t begin, int64_t end, int64_t grain, ChunkFunction function,
                const void* functor);

}  // namespace detail

/// Calls f(chunk_begin, chunk_end) for consecutive chunks of [begin, end), each `grain` long but
/// for the last, which may be shorter. So the chunks depend on the arguments alone: a result that
/// depends on the partition is the same for any number of threads. Chunks run in any order and at
/// the same time; all are done on return.
///
/// Serial, in order, on the caller: a single chunk, one thread, a call from within a chunk, and a
/// call while another thread's parallel_for is busy with the workers. Allocates nothing.
///
/// The first exception of a chunk is rethrown when the running chunks are done; chunks that have
/// not begun are skipped. Throws std::invalid_argument when `grain` < 1.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  if (begin < end && end - begin <= grain) return f(begin, end);
  detail::run_chunks(
      begin, end, grain,
      [](const void* functor, int64_t first, int64_t last) {
        (*static_cast<const F*>(functor))(first, last);
      },
      &f);
}

}  // namespace halfgrad
