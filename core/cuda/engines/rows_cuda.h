#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <halfgrad/core/cuda/engines/elementwise_cuda.h>
#include <halfgrad/core/cuda/engines/grid_group.h>
#include <halfgrad/core/cuda/engines/group.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/load_store.h>
#include <halfgrad/core/engines/rows.h>

/// The row engine on a GPU: a warp takes a row, or a block if rows are long. The functor needs
/// contiguous rows of type T. Other rows are staged in shared memory: inputs are widened once, and
/// outputs that are read back keep compute precision until the end. Rows too long for shared memory
/// are staged in global memory, by a limited number of blocks. If rows are few and long, all blocks
/// work on one row together, then on the next.
namespace halfgrad::detail {

/// A GPU's Team: the threads of a Group or a GridGroup.
template <class T, class Group>
class CudaTeam {
 public:
  __device__ explicit CudaTeam(const Group& group) : group_(group) {}

  template <class F>
  __device__ void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = group_.rank(); i < n; i += group_.size()) f(i);
  }
  /// Each thread adds kPerFlush elements in T, and these sums in double.
  template <class F>
  __device__ T sum(std::int64_t n, const F& f) const {
    double total = 0;
    for (std::int64_t i = group_.rank(); i < n;) {
      T part(0);
      for (int k = 0; k < kPerFlush && i < n; ++k, i += group_.size()) part += f(i);
      total += static_cast<double>(part);
    }
    return static_cast<T>(group_.combine(total, [](double a, double b) { return a + b; }));
  }
  template <class F>
  __device__ T max(std::int64_t n, const F& f) const {
    const auto larger = [](T a, T b) { return a >= b || a != a ? a : b; };
    T largest = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = group_.rank(); i < n; i += group_.size()) largest = larger(largest, f(i));
    return group_.combine(largest, larger);
  }
  /// Calls f on one thread, between two barriers.
  template <class F>
  __device__ void once(const F& f) const {
    group_.sync();
    if (group_.rank() == 0) f();
    group_.sync();
  }

 private:
  static constexpr int kPerFlush = 16;

  Group group_;
};

/// An operand whose row r starts at view.offset(r * columns) and has `columns` elements.
struct RowOperand {
  StridedView view;
  std::int64_t columns;
  std::int64_t stride;  // stride of a row's elements
  std::int64_t staged;  // offset of its row in the staging buffer; -1 if it is not staged

  template <class T>
  __device__ T* row(std::int64_t r, T* stage) const {
    return staged >= 0 ? stage + staged : reinterpret_cast<T*>(view.data) + first(r);
  }
  template <class T, class Group>
  __device__ void fill(std::int64_t r, T* stage, const Group& group) const {
    if (staged < 0) return;
    const std::int64_t offset = first(r);
    for (std::int64_t i = group.rank(); i < columns; i += group.size()) {
      stage[staged + i] = load<T>(view.data, view.dtype, offset + i * stride);
    }
  }
  template <class T, class Group>
  __device__ void commit(std::int64_t r, const T* stage, const Group& group) const {
    if (staged < 0) return;
    const std::int64_t offset = first(r);
    for (std::int64_t i = group.rank(); i < columns; i += group.size()) {
      store(view.data, view.dtype, offset + i * stride, stage[staged + i]);
    }
  }

 private:
  __device__ std::int64_t first(std::int64_t r) const {
    return columns > 0 ? view.offset(r * columns) : 0;
  }
};

/// The I inputs and O outputs of a row functor.
template <std::size_t I, std::size_t O>
struct RowOperands {
  RowOperand in[I];
  RowOperand out[O];
  std::int64_t rows;
  std::int64_t staged = 0;  ///< elements of a row's staging buffer
};

inline constexpr int kMaxRowThreads = 512;

template <class T, class F, class Group, std::size_t... I, std::size_t... O>
__device__ void run_row(const F& f, const RowOperands<sizeof...(I), sizeof...(O)>& operands,
                        std::int64_t r, T* stage, const Group& group, std::index_sequence<I...>,
                        std::index_sequence<O...>) {
  (operands.in[I].fill(r, stage, group), ...);
  group.sync();
  CudaTeam<T, Group> team(group);
  f(team, Row<const T>(operands.in[I].row(r, stage), operands.in[I].columns)...,
    Row<T>(operands.out[O].row(r, stage), operands.out[O].columns)...);
  group.sync();
  (operands.out[O].commit(r, stage, group), ...);
  group.sync();
}

/// Applies the functor to the rows: a warp takes each row, or a block if `whole_block`. `scratch`
/// is a staging buffer for one row of each block, or null for shared memory.
template <class T, class F, std::size_t I, std::size_t O>
__global__ void __launch_bounds__(kMaxRowThreads)
    map_rows(const F f, const RowOperands<I, O> operands, bool whole_block, T* scratch) {
  extern __shared__ double shared[];
  const Group group(whole_block);
  const std::int64_t per_block = whole_block ? 1 : blockDim.x / kWarp;
  const std::int64_t index = whole_block ? 0 : threadIdx.x / kWarp;
  T* const stage = scratch != nullptr ? scratch + blockIdx.x * operands.staged
                                      : reinterpret_cast<T*>(shared) + index * operands.staged;
  for (std::int64_t r = blockIdx.x * per_block + index; r < operands.rows;
       r += gridDim.x * per_block) {
    run_row(f, operands, r, stage, group, std::make_index_sequence<I>(),
            std::make_index_sequence<O>());
  }
}

/// Applies the functor to one row after the other, with the whole grid. `scratch` is a staging
/// buffer for one row.
template <class T, class F, std::size_t I, std::size_t O>
__global__ void __launch_bounds__(kMaxRowThreads)
    share_rows(const F f, const RowOperands<I, O> operands, T* scratch, double* parts) {
  const GridGroup group(parts);
  for (std::int64_t r = 0; r < operands.rows; ++r) {
    run_row(f, operands, r, scratch, group, std::make_index_sequence<I>(),
            std::make_index_sequence<O>());
  }
}

template <class T>
RowOperand row_operand(const Array& array, std::int64_t& staged, std::int64_t& widest) {
  const std::int64_t columns = array.sizes().back();
  const std::int64_t stride = array.strides().back();
  const bool in_place = array.dtype() == dtype_of<T>() && (columns == 1 || stride == 1);
  const RowOperand operand{StridedView(array, array.sizes()), columns, stride,
                           in_place ? -1 : staged};
  if (!in_place) staged += columns;
  widest = std::max(widest, columns);
  return operand;
}

template <class T, class F, std::size_t... I, std::size_t... O>
void rows_on_cuda(const F& f, std::int64_t rows, const Array* const* in, const Array* const* out,
                  std::index_sequence<I...>, std::index_sequence<O...>) {
  // Elements that a block may stage in the 48 KiB of shared memory that it has on every GPU.
  constexpr std::int64_t kShared = (48 * 1024 - kGroupBytes) / sizeof(T);
  constexpr std::int64_t kScratchBlocks = 256;
  if (rows == 0) return;
  const Device device = out[0]->device();
  const Launch launch(*out[0], name_of<F>("rows"));
  std::int64_t staged = 0;
  std::int64_t widest = 0;
  RowOperands<sizeof...(I), sizeof...(O)> operands{{row_operand<T>(*in[I], staged, widest)...},
                                                   {row_operand<T>(*out[O], staged, widest)...},
                                                   rows};
  operands.staged = staged;
  const auto kernel = share_rows<T, F, sizeof...(I), sizeof...(O)>;
  std::int64_t sharing = blocks_sharing(rows, widest);
  if (sharing > 1) sharing = std::min(sharing, resident_blocks(launch, kernel, kMaxRowThreads));
  if (sharing > 1) {
    const Array scratch = Array::empty({staged}, dtype_of<T>(), device);
    const Array parts = Array::empty({sharing}, DType::f64, device);
    return launch_cooperative(launch, kernel, static_cast<unsigned>(sharing), kMaxRowThreads, f,
                              operands, scratch.data_as<T>(), parts.data_as<double>());
  }

  const std::int64_t warps = std::min<std::int64_t>(8, kShared / std::max<std::int64_t>(1, staged));
  const bool whole_block = widest > 1024 || warps < 2;
  const bool in_shared = staged <= kShared;
  const std::int64_t per_block = whole_block ? 1 : warps;
  const int threads =
      whole_block ? (widest > 4096 ? kMaxRowThreads : 256) : static_cast<int>(warps) * kWarp;
  const std::int64_t blocks = (rows + per_block - 1) / per_block;
  const std::int64_t scratch_blocks = in_shared ? 0 : std::min(blocks, kScratchBlocks);
  const Array scratch = Array::empty({scratch_blocks * staged}, dtype_of<T>(), device);
  const std::size_t shared =
      in_shared ? static_cast<std::size_t>(per_block * staged) * sizeof(T) : 0;
  map_rows<<<static_cast<unsigned>(in_shared ? blocks : scratch_blocks), threads, shared,
             launch.stream()>>>(f, operands, whole_block,
                                in_shared ? nullptr : scratch.data_as<T>());
  launch.check();
}

}  // namespace halfgrad::detail
