// Cross entropy of classes, in one launch forward and one backward. See class_total.h.
//
// The threads of a row depend on its length:
//     n <= 32             one thread, from shared memory: a warp would leave most lanes idle
//     n a multiple of 8   a warp or a block, packs of 8 elements, one pass (online logsumexp)
//     other n             a warp or a block, element by element, two passes
//
// The last block of the forward kernel adds the losses of the rows: see loss_sum.h.

#include <halfgrad/core/cuda/kernels/class_total.h>

#include <halfgrad/core/cuda/engines/grid_group.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/engines/row_packs.h>
#include <halfgrad/core/cuda/kernels/class_rows.h>
#include <halfgrad/core/cuda/kernels/index_check.h>
#include <halfgrad/core/cuda/kernels/loss_sum.h>

namespace halfgrad::detail {
namespace {

// The operands of both kernels.
struct ClassRowsCall {
  LogitRows x;
  const std::int64_t* target;  // forward
  std::int64_t ignore_index;
  IndexCheck check;
  float* losses;  // forward: [rows]
  float* lse;
  std::int32_t* classes;
  float* count;
  bool mean;

  // Stores the target of a row, or -1 if it is ignored, and returns it.
  __device__ std::int64_t take_class(std::int64_t row) const {
    return take_class(row, target[row]);
  }
  __device__ std::int64_t take_class(std::int64_t row, std::int64_t index) const {
    const std::int64_t taken = index == ignore_index ? -1 : check(index);
    classes[row] = static_cast<std::int32_t>(taken);
    return taken;
  }
  __device__ void put(std::int64_t row, LogSumExp of_row, float at_target, bool ignored) const {
    lse[row] = of_row.max + of_row.log_sum;
    losses[row] = ignored ? 0 : (of_row.max - at_target) + of_row.log_sum;
  }
};

// Forward, a thread a row.
template <int kMost>
__global__ void __launch_bounds__(kRowThreads)
    few_classes(const __grid_constant__ ClassRowsCall op, const __grid_constant__ LossSum sum) {
  extern __shared__ float staged[];
  const StagedRows rows(op.x, staged);
  const std::int64_t row = rows.first + threadIdx.x;
  const std::int64_t target = row < op.x.rows ? op.target[row] : 0;  // before the barrier
  rows.load(op.x);
  __syncthreads();
  if (row < op.x.rows) {
    const float* const x = rows.row(threadIdx.x);
    const LogSumExp of_row = log_sum_exp_of_few<kMost>(x, rows.columns);
    const std::int64_t index = op.take_class(row, target);
    op.put(row, of_row, x[index < 0 ? 0 : index], index < 0);
  }
  sum.add_block(static_cast<std::int64_t>(blockIdx.x) * sum.rows_in_block);
}

// Forward, a warp or a block a row.
__global__ void __launch_bounds__(kMostClassThreads)
    many_classes(const __grid_constant__ ClassRowsCall op, const __grid_constant__ LossSum sum,
                 bool by_block) {
  const Group group(by_block);
  const std::int64_t row = by_block ? blockIdx.x : row_of(group);
  if (row < op.x.rows) {
    const LogSumExp of_row = log_sum_exp_of(group, op.x, row);
    if (group.rank() == 0) {
      const std::int64_t index = op.take_class(row);
      op.put(row, of_row, op.x.at(row, index < 0 ? 0 : index), index < 0);
    }
  }
  sum.add_block(static_cast<std::int64_t>(blockIdx.x) * sum.rows_in_block);
}

struct RootGradient {
  const std::byte* data;
  DType dtype;

  // dloss, or dloss / count for a mean
  __device__ float factor(const ClassRowsCall& op) const {
    const auto dloss = load<float>(data, dtype, 0);
    return op.mean ? dloss / *op.count : dloss;
  }
};

__global__ void __launch_bounds__(kRowThreads)
    few_class_gradients(const ClassRowsCall op, const RootGradient root, std::byte* dx) {
  extern __shared__ float staged[];
  const StagedRows rows(op.x, staged);
  const std::int64_t row = rows.first + threadIdx.x;
  ClassGradient gradient{root.factor(op), 0, -1};
  if (row < op.x.rows) {  // before the barrier
    gradient.lse = op.lse[row];
    gradient.target = op.classes[row];
  }
  rows.load(op.x);
  __syncthreads();
  if (row < op.x.rows) {
    float* const x = rows.row(threadIdx.x);
#pragma unroll 4
    for (int i = 0; i < op.x.columns; ++i) x[i] = gradient(x[i], i);
  }
  __syncthreads();
  rows.store(op.x, dx);
}

__global__ void __launch_bounds__(kMostClassThreads)
    many_class_gradients(const ClassRowsCall op, const RootGradient root, std::byte* dx,
                         bool by_block) {
  const Group group(by_block);
  const std::int64_t row = by_block ? blockIdx.x : row_of(group);
  if (row >= op.x.rows) return;
  const ClassGradient gradient{root.factor(op), op.lse[row], op.classes[row]};
  op.x.each(group, row, [&](std::int64_t offset, std::int64_t column, auto& x) {
#pragma unroll
    for (int i = 0; i < std::extent_v<std::remove_reference_t<decltype(x)>>; ++i) {
      x[i] = gradient(x[i], column + i);
    }
    op.x.store(dx, offset, x);
  });
}

// How the rows are distributed over a grid.
struct Grid {
  explicit Grid(const LogitRows& x) : few(x.columns <= kFewClasses) {
    by_block = few ? false : x.by_block();
    threads = by_block && !x.in_packs() && x.columns > 4096 ? kMostClassThreads : kRowThreads;
    rows_in_block = few ? kRowThreads : by_block ? 1 : kRowWarps;
    blocks = blocks_for(x.rows, rows_in_block);
    shared = few ? StagedRows::bytes(x) : 0;
  }
  bool few, by_block;
  int threads;
  std::int64_t rows_in_block;
  unsigned blocks;
  std::size_t shared;
};

ClassRowsCall call_of(const Array& x, bool mean, const ClassTotal& total) {
  return {.x = LogitRows(x),
          .target = nullptr,
          .ignore_index = 0,
          .check = {},
          .losses = nullptr,
          .lse = total.lse.data_as<float>(),
          .classes = total.classes.data_as<std::int32_t>(),
          .count = total.count.data_as<float>(),
          .mean = mean};
}

}  // namespace

bool class_total_takes(const Array& x, const Array& target) {
  return x.ndim() == 2 && x.numel() > 0 && x.size(0) <= kMostSummedRows && x.is_contiguous() &&
         (x.dtype() == DType::f32 || is_reduced(x.dtype())) && target.is_contiguous() &&
         reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0 &&
         blocks_sharing(x.size(0), x.size(1)) == 1;
}

void class_total_on_cuda(const Array& x, const Array& target, std::int64_t ignore_index, bool mean,
                         const ClassTotal& out) {
  constexpr auto kName = "cross_entropy";
  const Launch launch(x, kName);
  const Array losses = Array::empty({x.size(0)}, DType::f32, x.device());
  const Array parts = LossSum::parts_for(losses);
  ClassRowsCall op = call_of(x, mean, out);
  op.target = target.data_as<std::int64_t>();
  op.ignore_index = ignore_index;
  op.check = {kName, x.size(1), index_report_of(x.device())};
  op.losses = losses.data_as<float>();
  const Grid grid(op.x);
  LossSum sum(losses, parts, mean, out.loss, out.kept, grid.rows_in_block);
  sum.classes = op.classes;
  sum.count = op.count;
  if (!grid.few) {
    many_classes<<<grid.blocks, grid.threads, 0, launch.stream()>>>(op, sum, grid.by_block);
  } else if (x.size(1) <= 16) {
    few_classes<16><<<grid.blocks, grid.threads, grid.shared, launch.stream()>>>(op, sum);
  } else {
    few_classes<kFewClasses><<<grid.blocks, grid.threads, grid.shared, launch.stream()>>>(op, sum);
  }
  launch.check();
}

void class_total_gradient_on_cuda(const Array& dloss, const Array& x, bool mean,
                                  const ClassTotal& total, const Array& dx) {
  const Launch launch(x, "cross_entropy");
  const ClassRowsCall op = call_of(x, mean, total);
  const Grid grid(op.x);
  const RootGradient root{dloss.data(), dloss.dtype()};
  if (grid.few) {
    few_class_gradients<<<grid.blocks, grid.threads, grid.shared, launch.stream()>>>(op, root,
                                                                                     dx.data());
  } else {
    many_class_gradients<<<grid.blocks, grid.threads, 0, launch.stream()>>>(op, root, dx.data(),
                                                                            grid.by_block);
  }
  launch.check();
}

}  // namespace halfgrad::detail
