#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <halfgrad/core/cuda/engines/multi_tensor_cuda.h>
#include <halfgrad/core/cuda/engines/reduce_cuda.h>
#include <halfgrad/core/engines/multi_tensor_norm.h>

/// multi_tensor_norm on a GPU: each block reduces a chunk, and the last one to end does the rest.
/// It adds the chunks in the order of their index, so the result does not depend on which block
/// that is. Bounded by memory.
namespace halfgrad::detail {

/// Results of the chunks, by block, and the number of blocks that have ended.
struct NormChunks {
  double* totals;
  int* nonfinite;
  int* ticket;
};

template <class Item>
using NormTable = UpdateTable<DenseView, Item, 1>;

/// Reduces the chunk of this block and stores its results.
template <class R, class Item>
__device__ void reduce_norm_chunk(const R& r, const NormTable<Item>& table, float factor,
                                  const NormChunks& chunks) {
  const auto& entry = table.entry_of(blockIdx.x);
  const std::int64_t end = entry.end(blockIdx.x);
  Accumulator<float, R> accumulator(r);
  int nonfinite = 0;
  for (std::int64_t at = entry.begin(blockIdx.x) + threadIdx.x * kPerThread; at < end;
       at += kUpdateThreads * kPerThread) {
    float x[kPerThread];
    const int count = pack_count(at, end);
    entry.operands[0].load(at, count, x);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      if (k >= count) continue;
      nonfinite |= !math::isfinite(x[k]);
      accumulator.add(x[k] * factor);
    }
  }
  const Group group(true);
  const double total =
      group.combine(accumulator.total(), [&r](auto a, auto b) { return r.combine(a, b); });
  nonfinite = group.combine(nonfinite, [](int a, int b) { return a | b; });
  if (group.rank() > 0) return;
  chunks.totals[blockIdx.x] = total;
  chunks.nonfinite[blockIdx.x] = nonfinite;
}

/// True for the last block that gets here. It then sees what the others have stored.
inline __device__ bool is_last_block(int* ticket) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(ticket, 1) == static_cast<int>(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  return is_last;
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
  reduce_norm_chunk(r, table, *factor, chunks);
  if (!is_last_block(chunks.ticket)) return;

  for (int i = static_cast<int>(threadIdx.x) / kWarp; i < count; i += kUpdateThreads / kWarp) {
    const auto& entry = table.entry(i);
    const double total = combine_norm_chunks(r, chunks.totals + entry.first_block,
                                             (entry.n + kUpdateChunk - 1) / kUpdateChunk);
    if (threadIdx.x % kWarp == 0) norms[i] = static_cast<float>(r.finish(total, entry.n));
  }
  int nonfinite = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += kUpdateThreads) {
    nonfinite |= __ldcg(chunks.nonfinite + block);
  }
  nonfinite = Group(true).combine(nonfinite, [](int a, int b) { return a | b; });
  if (threadIdx.x < kWarp) {
    const float total = reduce_norms(r, norms, count);
    if (threadIdx.x == 0) {
      finish.once(total, nonfinite != 0);
      *chunks.ticket = 0;
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kUpdateThreads) {
    finish.each(table.entry(i).update);
  }
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
                               const float* factor, const Array& ticket, const Finish& finish) {
  NormTable<typename Finish::Item> table(nullptr);
  for (const auto& [array, item] : tensors) {
    const PackView view(*array, array->sizes());
    if (table.full() || !DenseView::fits(view)) return false;
    table.add(item, {DenseView(view)}, array->numel());
  }
  const auto blocks = static_cast<std::int64_t>(table.blocks());
  if (blocks == 0) return false;
  const Device device = ticket.device();
  const Array totals = Array::empty({blocks}, DType::f64, device);
  const Array nonfinite = Array::empty({blocks}, DType::i32, device);
  const NormChunks chunks{totals.data_as<double>(), nonfinite.data_as<int>(),
                          ticket.data_as<int>()};
  const Launch launch(device, "multi_tensor_norm", {table.size()});
  norm_pass<<<table.blocks(), kUpdateThreads, 0, launch.stream()>>>(
      r, finish, table, factor, static_cast<int>(table.size()), chunks);
  launch.check();
  return true;
}

}  // namespace halfgrad::detail
