#pragma once

#include <cstdint>

#include <halfgrad/core/language.h>

namespace halfgrad {

/// Sets the number of threads, the caller included, that parallel_for uses. Affects speed only,
/// never results. Throws std::invalid_argument if `count` < 1, and inside a chunk that runs in
/// parallel.
void set_num_threads(int count);

/// Returns the number of threads: initially HALFGRAD_NUM_THREADS of the environment, else the
/// number of hardware threads. Throws std::runtime_error if that variable is not a positive
/// integer.
int get_num_threads();

namespace detail {

using ChunkFunction = void (*)(const void* functor, std::int64_t begin, std::int64_t end);

void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, ChunkFunction function,
                const void* functor);

}  // namespace detail

/// Calls f(chunk_begin, chunk_end) for consecutive chunks of [begin, end), each of `grain` indices;
/// the last may be shorter. The chunks depend on the arguments only, so a result that depends on
/// the partition is the same for any number of threads. Chunks run in any order and concurrently;
/// all are done on return.
///
/// Runs serially, in order, on the calling thread in three cases: there is one chunk or one thread,
/// the call comes from inside a chunk, or another thread uses the workers. Allocates nothing.
///
/// Rethrows the first exception of a chunk after the running chunks are done; skips chunks that
/// have not begun. Throws std::invalid_argument if `grain` < 1.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  if (begin < end && end - begin <= grain) return f(begin, end);
  detail::run_chunks(
      begin, end, grain,
      [](const void* functor, std::int64_t first, std::int64_t last) {
        (*static_cast<const F*>(functor))(first, last);
      },
      &f);
}

}  // namespace halfgrad
