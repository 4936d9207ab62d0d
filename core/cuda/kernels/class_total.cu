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
  const std::int64_t* target = nullptr;
  std::int64_t ignore_index = 0;
  IndexCheck check = {};
  float* losses = nullptr;  // forward: [rows]
  float* lse = nullptr;
  std::int32_t* classes = nullptr;
  float* count = nullptr;
  bool mean = true;

  // The class of a row, or -1 if it is ignored.
  __device__ std::int64_t class_of(std::int64_t index) const {
    return index == ignore_index ? -1 : check(index);
  }
  // Stores the target of a row, or -1 if it is ignored, and returns it.
  __device__ std::int64_t take_class(std::int64_t row) const {
    return take_class(row, target[row]);
  }
  __device__ std::int64_t take_class(std::int64_t row, std::int64_t index) const {
    const std::int64_t taken = class_of(index);
    classes[row] = static_cast<std::int32_t>(taken);
    return taken;
  }
  __device__ void put(std::int64_t row, LogSumExp of_row, float at_target, bool ignored) const {
    lse[row] = of_row.value();
    losses[row] = ignored ? 0 : (of_row.max - at_target) + of_row.log_sum;
  }
  // The number of rows that are not ignored. All threads of a block call it.
  __device__ float count_rows() const {
    std::int64_t counted = 0;
    for (std::int64_t i = threadIdx.x; i < x.rows; i += blockDim.x) {
      counted += target[i] != ignore_index;
    }
    const auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
    return static_cast<float>(Group(true).combine(counted, add));
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

// dloss, a 0-dimensional array that the kernel reads.
struct RootGradient {
  const std::byte* data;
  DType dtype;

  // dloss, or dloss / count for a mean
  template <class Count>
  __device__ float factor(bool mean, const Count& count) const {
    const auto dloss = load<float>(data, dtype, 0);
    return mean ? dloss / count() : dloss;
  }
};

// Backward, a thread a row. With kMost = 0 it reads lse, classes and count. Otherwise it computes
// them anew, for at most kMost classes.
template <int kMost>
__global__ void __launch_bounds__(kRowThreads)
    few_class_gradients(const ClassRowsCall op, const RootGradient root, std::byte* dx) {
  constexpr bool kAnew = kMost > 0;
  extern __shared__ float staged[];
  const StagedRows rows(op.x, staged);
  const std::int64_t row = rows.first + threadIdx.x;
  const auto count = [&] { return kAnew ? op.count_rows() : *op.count; };
  ClassGradient gradient{root.factor(op.mean, count), 0, -1};
  if (row < op.x.rows) {  // before the barrier
    gradient.target = kAnew ? op.class_of(op.target[row]) : op.classes[row];
    if (!kAnew) gradient.lse = op.lse[row];
  }
  rows.load(op.x);
  __syncthreads();
  if (row < op.x.rows) {
    float* const x = rows.row(threadIdx.x);
    if constexpr (kAnew) gradient.lse = log_sum_exp_of_few<kMost>(x, rows.columns).value();
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
  const float factor = root.factor(op.mean, [&] { return *op.count; });
  const ClassGradient gradient{factor, op.lse[row], op.classes[row]};
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
          .lse = total.lse.data_as<float>(),
          .classes = total.classes.data_as<std::int32_t>(),
          .count = total.count.data_as<float>(),
          .mean = mean};
}

IndexCheck check_of(const Array& x) {
  return {"cross_entropy", x.size(1), index_report_of(x.device())};
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
  const Launch launch(x, "cross_entropy");
  const Array losses = Array::empty({x.size(0)}, DType::f32, x.device());
  const Array parts = LossSum::parts_for(losses);
  ClassRowsCall op = call_of(x, mean, out);
  op.target = target.data_as<std::int64_t>();
  op.ignore_index = ignore_index;
  op.check = check_of(x);
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
    few_class_gradients<0>
        <<<grid.blocks, grid.threads, grid.shared, launch.stream()>>>(op, root, dx.data());
  } else {
    many_class_gradients<<<grid.blocks, grid.threads, 0, launch.stream()>>>(op, root, dx.data(),
                                                                            grid.by_block);
  }
  launch.check();
}

ClassOperands::ClassOperands(const Array& x, const Array& target, std::int64_t ignore)
    : logits(x.data()), targets(target.data_as<std::int64_t>()), ignore_index(ignore) {}

bool class_gradient_from_operands_takes(const Array& x) {
  return x.size(1) <= kFewClasses && x.size(0) <= kRowsInPart;
}

void class_gradient_from_operands_on_cuda(const Array& dloss, const Array& x, bool mean,
                                          const ClassOperands& operands, const Array& dx) {
  const Launch launch(x, "cross_entropy");
  const ClassRowsCall op{.x = LogitRows(x, operands.logits),
                         .target = operands.targets,
                         .ignore_index = operands.ignore_index,
                         .check = check_of(x),
                         .mean = mean};
  const Grid grid(op.x);
  const RootGradient root{dloss.data(), dloss.dtype()};
  const auto kernel = x.size(1) <= 16 ? few_class_gradients<16> : few_class_gradients<kFewClasses>;
  kernel<<<grid.blocks, grid.threads, grid.shared, launch.stream()>>>(op, root, dx.data());
  launch.check();
}

}  // namespace halfgrad::detail
