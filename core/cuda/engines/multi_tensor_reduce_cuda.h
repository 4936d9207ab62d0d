#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/core/cuda/engines/multi_tensor_cuda.h>
#include <halfgrad/core/cuda/engines/reduce_cuda.h>
#include <halfgrad/core/engines/multi_tensor_reduce.h>

/// Reductions of lists of tensors on a GPU, in the tables of multi_tensor_cuda.h: a block combines
/// a chunk, then a block combines the chunks of a tensor. Bounded by memory: every element is read
/// once. The order depends on the sizes alone.
namespace halfgrad::detail {

/// The output element of a tensor's total, and the dtype that the total is rounded to first.
struct ReduceSlot {
  std::int64_t output;
  DType dtype;
};

template <class View>
using ReduceTable = UpdateTable<View, ReduceSlot, 1>;

template <class T, class View, class R>
__global__ void __launch_bounds__(kUpdateThreads)
    reduce_chunks(const R r, const __grid_constant__ ReduceTable<View> table, total_t<T>* totals) {
  const auto& entry = table.entry_of(blockIdx.x);
  const std::int64_t end = entry.end(blockIdx.x);
  Accumulator<T, R> accumulator(r);
  for (std::int64_t at = entry.begin(blockIdx.x) + threadIdx.x * View::kElements; at < end;
       at += kUpdateThreads * View::kElements) {
    accumulate<T>(accumulator, entry.operands[0], at, end);
  }
  const Group group(true);
  const auto combine = [&r](auto a, auto b) { return r.combine(a, b); };
  const total_t<T> total = group.combine(accumulator.total(), combine);
  if (group.rank() == 0) totals[blockIdx.x] = total;
}

/// Block i combines the chunks of entry i.
template <class T, class View, class R>
__global__ void __launch_bounds__(kUpdateThreads)
    combine_chunks(const R r, const __grid_constant__ ReduceTable<View> table,
                   const total_t<T>* totals, std::byte* out, DType out_dtype) {
  const auto& entry = table.entry(blockIdx.x);
  const std::int64_t chunks = (entry.n + kUpdateChunk - 1) / kUpdateChunk;
  const Group group(true);
  auto total = r.template identity<total_t<T>>();
  for (std::int64_t i = group.rank(); i < chunks; i += group.size()) {
    total = r.combine(total, totals[entry.first_block + i]);
  }
  total = group.combine(total, [&r](auto a, auto b) { return r.combine(a, b); });
  if (group.rank() > 0) return;
  total = r.finish(total, entry.n);
  with_stored_type(entry.update.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    total = convert_on_device<total_t<T>>(convert_on_device<S>(total));
  });
  store(out, out_dtype, entry.update.output, total);
}

template <class R>
struct RunReductions {
  const R& r;
  const Array& out;

  template <class T, class View>
  void operator()(const Launch& launch, const ReduceTable<View>& table) const {
    const auto blocks = static_cast<std::int64_t>(table.blocks());
    const Array totals = Array::empty({blocks}, dtype_of<total_t<T>>(), out.device());
    auto* const chunks = totals.data_as<total_t<T>>();
    if (table.blocks() > 0) {
      reduce_chunks<T><<<table.blocks(), kUpdateThreads, 0, launch.stream()>>>(r, table, chunks);
      launch.check();
    }
    combine_chunks<T><<<table.size(), kUpdateThreads, 0, launch.stream()>>>(
        r, table, chunks, out.data(), out.dtype());
    launch.check();
  }
};

template <class R>
void multi_tensor_reduce_on_cuda(const R& r, std::span<const Array> in, const Array& out) {
  std::vector<TensorUpdate<ReduceSlot, 1>> slots;
  for (std::size_t i = 0; i < in.size(); ++i) {
    slots.push_back({{static_cast<std::int64_t>(i), in[i].dtype()}, {&in[i]}});
  }
  run_in_tables(slots, nullptr, kUpdateChunk, RunReductions<R>{r, out});
}

}  // namespace halfgrad::detail
