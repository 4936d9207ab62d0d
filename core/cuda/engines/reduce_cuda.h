#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/cuda/engines/pack_view.h>
#include <halfgrad/core/cuda/engines/reduce_plan.h>
#include <halfgrad/core/engines/reduce.h>

/// The reduction engine on a GPU. Threads exchange wide totals, so sums are as exact as the CPU's.
/// A few long reductions are cut into parts, one a block, which a second launch combines. The order
/// depends on the shape alone; there are no atomics.
namespace halfgrad::detail {

inline constexpr int kReduceThreads = 256;

/// The destination of totals: `out`, finished, or `parts`, for a second launch.
template <class Total>
struct ReduceTarget {
  StridedView out;
  Total* parts;  // [outer, plan.parts, columns], or null

  template <class R>
  __device__ void put(const R& r, const ReducePlan& plan, std::int64_t output, std::int64_t part,
                      Total total) const {
    if (parts == nullptr) {
      out.store(output, r.finish(total, plan.count));
    } else {
      parts[plan.part_index(output, part)] = total;
    }
  }
};

/// Reduces rows: a warp or a block takes a part of an output's elements, which have consecutive
/// indices. View is SingleView or PackView.
template <class T, class View, class R>
__global__ void reduce_rows(const R r, const ReducePlan plan, const View in,
                            const ReduceTarget<total_t<T>> target) {
  const Group group(plan.whole_block);
  const std::int64_t per_block = plan.whole_block ? 1 : kReduceThreads / kWarp;
  const std::int64_t item = blockIdx.x * per_block + (plan.whole_block ? 0 : threadIdx.x / kWarp);
  if (item >= plan.outputs * plan.parts) return;
  const std::int64_t output = item / plan.parts;
  const std::int64_t part = item % plan.parts;
  const std::int64_t row = output * plan.count;
  const std::int64_t end = row + std::min(plan.count, (part + 1) * plan.chunk);
  Accumulator<T, R> accumulator(r);
#pragma unroll 4
  for (std::int64_t i = row + part * plan.chunk + group.rank() * View::kElements; i < end;
       i += group.size() * View::kElements) {
    accumulate<T>(accumulator, in, i, end);
  }
  const auto combine = [&r](auto a, auto b) { return r.combine(a, b); };
  const total_t<T> total = group.combine(accumulator.total(), combine);
  if (group.rank() == 0) target.put(r, plan, output, part, total);
}

/// Reduces columns: a block takes kWarp neighbouring columns, so that loads are coalesced, and each
/// of its eight warps takes every eighth row of a part.
template <class T, class R>
__global__ void reduce_columns(const R r, const ReducePlan plan, const StridedView in,
                               const ReduceTarget<total_t<T>> target) {
  constexpr int kWarps = kReduceThreads / kWarp;
  __shared__ total_t<T> totals[kWarps][kWarp];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t tiles = (plan.columns + kWarp - 1) / kWarp;
  const std::int64_t column = blockIdx.x % tiles * kWarp + lane;
  const std::int64_t part = blockIdx.x / tiles % plan.parts;
  const std::int64_t outer = blockIdx.x / tiles / plan.parts;
  Accumulator<T, R> accumulator(r);
  if (column < plan.columns) {
    const std::int64_t end = std::min(plan.count, (part + 1) * plan.chunk);
#pragma unroll 4
    for (std::int64_t i = part * plan.chunk + warp; i < end; i += kWarps) {
      accumulator.add(in.load<T>((outer * plan.count + i) * plan.columns + column));
    }
  }
  totals[warp][lane] = accumulator.total();
  __syncthreads();
  if (warp > 0 || column >= plan.columns) return;
  total_t<T> total = totals[0][lane];
  for (int w = 1; w < kWarps; ++w) total = r.combine(total, totals[w][lane]);
  target.put(r, plan, outer * plan.columns + column, part, total);
}

/// A warp combines the parts of one output.
template <class Total, class R>
__global__ void reduce_parts(const R r, const ReducePlan plan, const ReduceTarget<Total> target) {
  const Group group(false);
  const std::int64_t output =
      static_cast<std::int64_t>(blockIdx.x) * (kReduceThreads / kWarp) + threadIdx.x / kWarp;
  if (output >= plan.outputs) return;
  auto total = r.template identity<Total>();
  for (std::int64_t part = group.rank(); part < plan.parts; part += kWarp) {
    total = r.combine(total, target.parts[plan.part_index(output, part)]);
  }
  total = group.combine(total, [&r](auto a, auto b) { return r.combine(a, b); });
  if (group.rank() == 0) target.out.store(output, r.finish(total, plan.count));
}

template <class T, class R>
void launch_rows(const Launch& launch, const R& r, const ReducePlan& plan, const Array& view,
                 const ReduceTarget<total_t<T>>& target) {
  const std::int64_t items = plan.outputs * plan.parts;
  const unsigned blocks = blocks_for(items, plan.whole_block ? 1 : kReduceThreads / kWarp);
  if constexpr (std::is_same_v<T, float>) {
    const PackView packs(view, view.sizes());
    const bool whole_packs = plan.count % kPerThread == 0 || plan.outputs == 1;
    if (whole_packs && packs.can_load()) {
      reduce_rows<T><<<blocks, kReduceThreads, 0, launch.stream()>>>(r, plan, packs, target);
      return;
    }
  }
  const SingleView elements{StridedView(view, view.sizes())};
  reduce_rows<T><<<blocks, kReduceThreads, 0, launch.stream()>>>(r, plan, elements, target);
}

template <class T, class R>
void reduce_on_cuda(const R& r, const Array& out, const Array& in, unsigned dims) {
  using Total = total_t<T>;
  if (out.numel() == 0) return;
  const Launch launch(out, name_of<R>("reduce"));
  const ReducePlan plan(in, dims);
  const Array view = in.permute(plan.order);
  const Array parts = Array::empty({plan.parts > 1 ? plan.outputs * plan.parts : 0},
                                   dtype_of<Total>(), out.device());
  const ReduceTarget<Total> target{StridedView(out, out.sizes()),
                                   plan.parts > 1 ? parts.data_as<Total>() : nullptr};
  if (plan.by_column) {
    const unsigned blocks = static_cast<unsigned>(plan.column_blocks() * plan.parts);
    const StridedView elements(view, view.sizes());
    reduce_columns<T><<<blocks, kReduceThreads, 0, launch.stream()>>>(r, plan, elements, target);
  } else {
    launch_rows<T>(launch, r, plan, view, target);
  }
  launch.check();
  if (plan.parts == 1) return;
  const unsigned blocks = blocks_for(plan.outputs, kReduceThreads / kWarp);
  reduce_parts<<<blocks, kReduceThreads, 0, launch.stream()>>>(r, plan, target);
  launch.check();
}

}  // namespace halfgrad::detail
