// Softmax and cross entropy together, in one pass over each row.
//
//     lse = log(sum_j exp(x_j)) = m + log(sum_j exp(x_j - m)),   m = max_j x_j
//
// exp(x_j) overflows unless m is subtracted first, but m is known only at the end of the row. The
// generic functor therefore reads the row twice, and stages it, widened, in shared memory. Here m
// grows along the row: when it does, the sum so far is multiplied by exp(m_old - m_new), once for 8
// elements (Milakov and Gimelshein 2018). A thread keeps only m and the sum, so a row may be as
// long as a vocabulary.
//
// Memory bounds both directions. Forward reads x, 2 bytes an element in 16 bits, for 9/8
// exponentials and about 4 FLOP. For [8192, 50304] that is 824 MB and 246 us at the 3.35 TB/s of an
// H100. Its 132 multiprocessors start 16 exponentials a clock each, 4.2e12 a second at 1.98 GHz:
// 111 us, hidden behind memory. Backward reads x and writes dx, computed from lse without the
// probabilities: 1.65 GB, 492 us. Predicted, not measured: 280 us and 560 us.

#include <halfgrad/core/cuda/kernels/cross_entropy.h>

#include <halfgrad/core/cuda/engines/grid_group.h>
#include <halfgrad/core/cuda/engines/launch.h>
#include <halfgrad/core/cuda/kernels/class_rows.h>

namespace halfgrad::detail {
namespace {

// One row of `targets`.
struct Target {
  float index, weight;

  __device__ bool ignored() const { return index < 0; }
};

struct Rows {
  PackedRows x;
  const Target* targets;
  float* lse;
  std::int64_t rows, n;
};

// Calls f(column) for each of this thread's packs in a row of n elements; a pack starts at
// `column`.
template <class F>
__device__ void each_pack_of(const Group& group, std::int64_t n, const F& f) {
  for (std::int64_t column = static_cast<std::int64_t>(group.rank()) * kPerThread; column < n;
       column += static_cast<std::int64_t>(group.size()) * kPerThread) {
    f(column);
  }
}

__global__ void __launch_bounds__(kRowThreads)
    class_loss(const Rows op, const StridedView losses, bool by_block) {
  const Group group(by_block);
  const std::int64_t row = row_of(group);
  if (row >= op.rows) return;
  const std::int64_t first = row * op.n;
  OnlineLogSumExp online;
  each_pack_of(group, op.n, [&](std::int64_t column) {
    float x[kPerThread];
    op.x.load(first + column, x);
    online.add(x);
  });
  const LogSumExp lse = online.total(group);
  if (group.rank() != 0) return;
  const Target target = op.targets[row];
  op.lse[row] = lse.value();
  float loss = 0;
  if (!target.ignored()) {
    const std::int64_t at = first + static_cast<std::int64_t>(target.index);
    const float x = load<float>(op.x.data, op.x.dtype, at);
    loss = target.weight * ((lse.max - x) + lse.log_sum);
  }
  losses.store(row, loss);
}

__global__ void __launch_bounds__(kRowThreads)
    class_gradient(const Rows op, const StridedView dloss, const PackedRows dx, bool by_block) {
  const Group group(by_block);
  const std::int64_t row = row_of(group);
  if (row >= op.rows) return;
  const std::int64_t first = row * op.n;
  const Target target = op.targets[row];
  const ClassGradient gradient{dloss.load<float>(row) * target.weight, op.lse[row],
                               static_cast<std::int64_t>(target.index)};
  each_pack_of(group, op.n, [&](std::int64_t column) {
    float x[kPerThread];
    op.x.load(first + column, x);
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) x[i] = gradient(x[i], column + i);
    dx.store(first + column, x);
  });
}

bool takes(const Array& x, const Array& targets) {
  return PackedRows::fit(x) && targets.dtype() == DType::f32 &&
         blocks_sharing(x.size(0), x.size(1)) == 1;
}

Rows rows_of(const Array& x, const Array& targets, const Array& lse) {
  return {PackedRows(x), reinterpret_cast<const Target*>(targets.data()), lse.data_as<float>(),
          x.size(0), x.size(1)};
}

unsigned blocks_for_rows(const Rows& op) {
  return blocks_for(op.rows, rows_by_block(op.n) ? 1 : kRowWarps);
}

}  // namespace

bool class_loss_on_cuda(const Array& x, const Array& targets, const Array& losses,
                        const Array& lse) {
  if (!takes(x, targets)) return false;
  const Launch launch(x, "cross_entropy");
  const Rows op = rows_of(x, targets, lse);
  class_loss<<<blocks_for_rows(op), kRowThreads, 0, launch.stream()>>>(
      op, StridedView(losses, {op.rows, 1}), rows_by_block(op.n));
  launch.check();
  return true;
}

bool class_gradient_on_cuda(const Array& dloss, const Array& x, const Array& targets,
                            const Array& lse, const Array& dx) {
  if (!takes(x, targets)) return false;
  const Launch launch(x, "cross_entropy");
  const Rows op = rows_of(x, targets, lse);
  class_gradient<<<blocks_for_rows(op), kRowThreads, 0, launch.stream()>>>(
      op, StridedView(dloss, {op.rows, 1}), PackedRows(dx), rows_by_block(op.n));
  launch.check();
  return true;
}

}  // namespace halfgrad::detail
