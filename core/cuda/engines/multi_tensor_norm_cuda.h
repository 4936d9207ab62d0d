#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <halfgrad/core/cuda/engines/multi_tensor_cuda.h>
#include <halfgrad/core/cuda/engines/reduce_cuda.h>
#include <halfgrad/core/cuda/engines/tickets.h>
#include <halfgrad/core/engines/multi_tensor_norm.h>

/// multi_tensor_norm on a GPU: each block reduces a chunk, and the last one to end does the rest.
/// It adds the chunks in the order of their index, so the result does not depend on which block
/// that is. Bounded by memory.
namespace halfgrad::detail {

/// Results of the chunks and of the blocks, and the counter that finds the last block.
struct NormChunks {
  double* totals;
  int* nonfinite;
  unsigned* ticket;
};

/// Blocks of a long list take several chunks: each block waits for a ticket, which takes as long as
/// a chunk.
inline constexpr unsigned kMostNormBlocks = 132 * 6;

template <class Item>
using NormTable = UpdateTable<DenseView, Item, 1>;

/// The packs of a chunk that a thread reduces. All are on their way before the first is used.
template <class Item>
class NormedElements {
 public:
  __device__ NormedElements(const NormTable<Item>& table, unsigned chunk)
      : entry_(table.entry_of(chunk)), begin_(entry_.begin(chunk)), end_(entry_.end(chunk)) {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) entry_.operands[0].fetch(place(i), count(i), packs_[i]);
  }

  /// Adds them, times `factor`. Returns whether one is inf or NaN.
  template <class A>
  __device__ bool add_to(A& accumulator, float factor) const {
    bool nonfinite = false;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      float x[kPerThread];
      entry_.operands[0].load(place(i), count(i), packs_[i], x);
#pragma unroll
      for (int k = 0; k < kPerThread; ++k) {
        if (k >= count(i)) continue;
        nonfinite = nonfinite || !math::isfinite(x[k]);
        accumulator.add(x[k] * factor);
      }
    }
    return nonfinite;
  }

 private:
  static constexpr int kPacks = kUpdateChunk / (kUpdateThreads * kPerThread);

  __device__ std::int64_t place(int i) const {
    const auto pack = static_cast<std::int64_t>(i * kUpdateThreads + threadIdx.x);
    return std::min(begin_ + pack * kPerThread, end_);
  }
  __device__ int count(int i) const { return pack_count(place(i), end_); }

  const typename NormTable<Item>::Entry& entry_;
  std::int64_t begin_, end_;
  StoredPack packs_[kPacks];
};

/// Reduces the chunks of this block, every gridDim.x-th of all, and stores their results.
template <class R, class Item>
__device__ void reduce_norm_chunks(const R& r, const NormTable<Item>& table, const float* factor,
                                   const NormChunks& chunks) {
  const Group group(true);
  const float by = factor != nullptr ? *factor : 1;
  bool nonfinite = false;
  for (unsigned chunk = blockIdx.x; chunk < table.blocks(); chunk += gridDim.x) {
    const NormedElements<Item> elements(table, chunk);
    Accumulator<float, R> accumulator(r);
    nonfinite = elements.add_to(accumulator, by) || nonfinite;
    const double total =
        group.combine(accumulator.total(), [&r](auto a, auto b) { return r.combine(a, b); });
    if (group.rank() == 0) chunks.totals[chunk] = total;
  }
  const bool of_block = __syncthreads_or(nonfinite) != 0;
  if (group.rank() == 0) chunks.nonfinite[blockIdx.x] = of_block;
}

/// Combines the chunks of one tensor, on a warp, in the order of combine_chunks(): there a thread
/// of a whole block has each chunk.
template <class R>
__device__ double combine_norm_chunks(const R& r, const double* totals, std::int64_t count) {
  const Group warp(false);
  const auto combine = [&r](auto a, auto b) { return r.combine(a, b); };
  auto total = r.template identity<double>();
  for (int first = 0; first < kUpdateThreads; first += kWarp) {
    if (first > 0 && first >= count) break;
    auto part = r.template identity<double>();
    for (std::int64_t i = first + warp.rank(); i < count; i += kUpdateThreads) {
      part = r.combine(part, __ldcg(totals + i));
    }
    part = warp.combine(part, combine);
    total = first == 0 ? part : r.combine(total, part);
  }
  return total;
}

/// Reduces `count` norms on one warp, in the order of reduce_rows().
template <class R>
__device__ float reduce_norms(const R& r, const float* norms, int count) {
  const Group warp(false);
  Accumulator<float, R> accumulator(r);
  for (int first = warp.rank() * kPerThread; first < count; first += kWarp * kPerThread) {
    for (int i = first; i < std::min(count, first + kPerThread); ++i) accumulator.add(norms[i]);
  }
  const double total =
      warp.combine(accumulator.total(), [&r](auto a, auto b) { return r.combine(a, b); });
  return static_cast<float>(r.finish(total, count));
}

template <class R, class Finish>
__global__ void __launch_bounds__(kUpdateThreads)
    norm_pass(const R r, const __grid_constant__ Finish finish,
              const __grid_constant__ NormTable<typename Finish::Item> table, const float* factor,
              const int count, const NormChunks chunks) {
  __shared__ float norms[NormTable<typename Finish::Item>::kCapacity];
  reduce_norm_chunks(r, table, factor, chunks);
  if (!is_last_block(chunks.ticket, gridDim.x)) return;

  const auto before = finish.before();  // loaded while the chunks are added
  int nonfinite = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += kUpdateThreads) {
    nonfinite |= __ldcg(chunks.nonfinite + block);
  }
  const bool found_inf = __syncthreads_or(nonfinite) != 0;
  // Half of the warps add chunks. What each tensor needs takes as long, and the others do it.
  constexpr int kAdding = kUpdateThreads / 2;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kAdding) {
    for (int i = thread / kWarp; i < count; i += kAdding / kWarp) {
      const auto& entry = table.entry(i);
      const double total = combine_norm_chunks(r, chunks.totals + entry.first_block,
                                               (entry.n + kUpdateChunk - 1) / kUpdateChunk);
      if (thread % kWarp == 0) norms[i] = static_cast<float>(r.finish(total, entry.n));
    }
  } else {
    for (int i = thread - kAdding; i < count; i += kUpdateThreads - kAdding) {
      finish.each(table.entry(i).update, found_inf);
    }
  }
  __syncthreads();
  if (thread >= kWarp) return;
  const float total = reduce_norms(r, norms, count);
  if (thread == 0) finish.once(total, found_inf, before);
}

template <class Item>
bool fits_multi_tensor_norm_on_cuda(std::span<const Array> tensors) {
  std::int64_t total = 0;
  for (const Array& array : tensors) {
    if (!DenseView::fits(PackView(array, array.sizes()))) return false;
    total += array.numel();
  }
  return total > 0 && tensors.size() <= NormTable<Item>::kCapacity;
}

template <class R, class Finish>
bool multi_tensor_norm_on_cuda(const R& r,
                               const std::vector<NormedTensor<typename Finish::Item>>& tensors,
                               const float* factor, const Finish& finish) {
  NormTable<typename Finish::Item> table(nullptr);
  for (const auto& [array, item] : tensors) {
    const PackView view(*array, array->sizes());
    if (table.full() || !DenseView::fits(view)) return false;
    table.add(item, {DenseView(view)}, array->numel());
  }
  const unsigned blocks = std::min(table.blocks(), kMostNormBlocks);
  if (blocks == 0) return false;
  const Device device = tensors[0].array->device();
  const Array totals = Array::empty({table.blocks()}, DType::f64, device);
  const Array nonfinite = Array::empty({blocks}, DType::i32, device);
  const NormChunks chunks{totals.data_as<double>(), nonfinite.data_as<int>(),
                          tickets_for(current_stream(device))};
  const Launch launch(device, "multi_tensor_norm", {table.size()});
  norm_pass<<<blocks, kUpdateThreads, 0, launch.stream()>>>(r, finish, table, factor,
                                                            static_cast<int>(table.size()), chunks);
  launch.check();
  return true;
}

}  // namespace halfgrad::detail
