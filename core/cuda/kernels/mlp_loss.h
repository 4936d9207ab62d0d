#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/kernels/class_rows.h>
#include <halfgrad/core/cuda/kernels/index_check.h>
#include <halfgrad/core/cuda/kernels/loss_sum.h>
#include <halfgrad/core/cuda/kernels/mlp_tile.h>

/// The cross entropy at the end of an MLP's kernels. A warp has the logits of its 16 rows twice: as
/// fragments in its registers, where it turns them into their gradient, and in its tile in shared
/// memory, where it reads them row by row for the logsumexp.
namespace halfgrad::detail {

/// The loss as a kernel's parameter.
struct MlpLossOperands {
  const std::int64_t* targets = nullptr;  ///< null: the kernel has no loss
  IndexCheck check = {};
  float* losses = nullptr;  ///< one for each row; null: not wanted
  LossSum sum = {};
  const std::byte* dloss = nullptr;
  DType dloss_dtype = DType::f32;

  /// dloss / rows, or 0 without a loss
  __device__ float factor(std::int64_t rows) const {
    if (targets == nullptr) return 0;
    return load<float>(dloss, dloss_dtype, 0) / static_cast<float>(rows);
  }
};

/// The operands of a launch, and the memory that they point to, which must live until then.
struct MlpLossCall {
  /// `dloss`: undefined for a forward pass.
  MlpLossCall(const MlpArrays& mlp, const MlpLoss& loss, const Array& dloss = {});

  MlpLossOperands operands;

 private:
  Array losses_, parts_;
};

/// Asks for x and the targets of a warp's next tile, which begins at row `first`.
inline __device__ void prefetch_tile(const MlpOperands& op, const MlpLossOperands& loss,
                                     std::int64_t first, int lane) {
  const int rows = rows_of_warp(op, first);
  prefetch_x(op, first, rows, lane);
  if (loss.targets == nullptr) return;
  prefetch(loss.targets + first, rows * static_cast<std::int64_t>(sizeof(*loss.targets)), lane);
}

/// Rows of logits in a warp's tile, with the members of LogitRows that log_sum_exp_of needs.
template <class T>
struct TileLogits {
  const T* tile;
  int stride;
  std::int64_t columns;

  __device__ bool in_packs() const { return columns % kPerThread == 0; }
  __device__ float at(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(tile[row * stride + column]);
  }
  template <class F>
  __device__ void each(const Group& group, std::int64_t row, const F& f) const {
    for (std::int64_t column = static_cast<std::int64_t>(group.rank()) * kPerThread;
         column < columns; column += static_cast<std::int64_t>(group.size()) * kPerThread) {
      float x[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) x[i] = at(row, column + i);
      f(column, column, x);
    }
  }
};

/// The values that the gradient of a row needs. Lane r < 16 of a warp has that of row r; the
/// others, and the lanes of rows outside the batch, have target -1.
struct RowOfLoss {
  float lse;
  int target;
};

/// Computes the logsumexp of each of a warp's rows, [first, first + rows), from their logits in
/// `tile`, and stores their losses unless `losses` is null. Up to 16 classes, a thread takes a row.
template <class T, int kWidth>
__device__ RowOfLoss loss_of_rows(const MlpLossOperands& loss, float* losses, const T* tile,
                                  int columns, std::int64_t first, int rows) {
  const TileLogits<T> x{tile, kWidth + kPad, columns};
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  // Loaded before it is needed, so that the row's sum does not wait for the memory.
  const std::int64_t loaded = lane < rows ? loss.targets[first + lane] : 0;
  LogSumExp own{0, 0};
  if (columns <= kBlock) {
    if (lane < rows) {
      float logits[kBlock];
#pragma unroll
      for (int i = 0; i < kBlock; ++i) logits[i] = i < columns ? x.at(lane, i) : 0;
      own = log_sum_exp_of_few<kBlock>(logits, columns);
    }
  } else {
    const Group warp(false);
    for (int row = 0; row < rows; ++row) {
      const LogSumExp of_row = log_sum_exp_of(warp, x, row);
      if (lane == row) own = of_row;
    }
  }
  if (lane >= rows) return {0, -1};
  const std::int64_t target = loss.check(loaded);
  if (losses != nullptr) {
    losses[first + lane] = (own.max - x.at(lane, target)) + own.log_sum;
  }
  return {own.value(), static_cast<int>(target)};
}

/// Replaces a warp's logits by their gradient, rounded as the logits are.
template <class T, int kBlocks>
__device__ void to_gradient(Fragment (&logits)[kBlocks], int columns, float factor,
                            const RowOfLoss& own) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  ClassGradient of_row[2];  // rows lane / 4 and lane / 4 + 8
#pragma unroll
  for (int down = 0; down < 2; ++down) {
    const int row = lane / 4 + down * 8;
    of_row[down] = {factor, __shfl_sync(0xffffffff, own.lse, row),
                    __shfl_sync(0xffffffff, own.target, row)};
  }
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
    if (j * kBlock >= columns) continue;
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int column = j * kBlock + part / 2 * 8 + lane % 4 * 2;
      const float2 x = PairOf<T>::widen(logits[j].part[part]);
      const ClassGradient& gradient = of_row[part % 2];
      logits[j].part[part] =
          PairOf<T>::narrow(column < columns ? gradient(x.x, column) : 0,
                            column + 1 < columns ? gradient(x.y, column + 1) : 0);
    }
  }
}

}  // namespace halfgrad::detail
