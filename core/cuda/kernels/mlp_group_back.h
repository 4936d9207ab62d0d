#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/kernels/mlp_group.h>
#include <halfgrad/core/cuda/kernels/mlp_sums.h>

/// The way back through a group's layers: the gradient of the loss, a step from one layer to the
/// one before, and the sums over rows, dW = g^T h and db = g^T 1, in registers.
namespace halfgrad::detail {

/// g_{L-1}, the gradient of the loss for 64 rows of a tile, of which those before `rows` are in the
/// batch.
template <class T, int kWidth, bool kNarrow>
__device__ void store_gradient_of_loss(const GroupMemory<T, kWidth, kNarrow>& shared,
                                       const MlpOperands& op, const MlpLossOperands& loss,
                                       std::int64_t first_of_tile, int rows,
                                       const WarpgroupPlace& place) {
  constexpr int kOut = shared.kOut, kBlocks = kOut / kBlock;
  const int last = shared.layers - 1, out = op.sizes[op.layers];
  WarpgroupSums<kOut> products;
  begin_products();
  multiply_by_transpose<T, kOut>(products, shared.h(last), place.first_row(), shared.last_weight(),
                                 0);
  commit_products();
  wait_for_products<0>();
  pin(products);
  Fragment g[kBlocks];
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) {
    g[j] = add_bias<T>(BlockOfSums<kOut>(products, j).sums, shared.bias(last) + j * kBlock);
  }
  T* const logits = shared.logits(place.warp).first;
  store_fragments<T, kOut>(logits, g, kBlocks);
  __syncwarp();
  const std::int64_t first = first_of_tile + place.warp * kBlock;
  const RowOfLoss of_row =
      loss_of_rows<T, kOut>(loss, loss.losses, logits, out, first, rows_of_warp(op, first));
  __syncwarp();
  to_gradient<T>(g, out, loss.factor(op.rows), of_row);
  const OwnElements to(shared.last_g(), place);
#pragma unroll
  for (int j = 0; j < kBlocks; ++j) to.store(j, g[j], place, rows);
}

/// Calls f(sum) for each of a thread's sums.
template <int kBlocks, class F>
__device__ void each_sum(float (&sums)[kBlocks][4], const F& f) {
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
    for (float& sum : sums[i]) f(sum);
  }
}

/// The sums of a wide layer that a warpgroup owns: 64 rows of dW, and db for them.
template <int kWidth>
struct WideSums {
  WarpgroupSums<kWidth> weight = {};
  WarpgroupSums<8> bias = {};

  template <class F>
  __device__ void each(const F& f) {
    each_sum(weight, f);
    each_sum(bias, f);
  }
};

/// The sums of a narrow last layer, transposed: 64 rows of dW^T, and db in every row.
struct NarrowSums {
  WarpgroupSums<kNarrowOutput> weight = {}, bias = {};

  template <class F>
  __device__ void each(const F& f) {
    each_sum(weight, f);
    each_sum(bias, f);
  }
};

/// The rows of a tile over which a warpgroup adds, and its 64 columns of the left operand.
template <int kWidth>
struct SumsOfWarpgroup {
  static constexpr bool kSplitsRows = kWidth == kSwizzledColumns;
  static constexpr int kSteps = (kSplitsRows ? kWarpgroupRows : kMlpTileRows) / kBlock;

  int first_step, block;

  __device__ explicit SumsOfWarpgroup(int warpgroup)
      : first_step(kSplitsRows ? warpgroup * kSteps : 0), block(kSplitsRows ? 0 : warpgroup) {}
  /// Waits until the rows of other warpgroups that this one adds are there, or it has read them.
  static __device__ void sync(const WarpgroupPlace& place) {
    if constexpr (kSplitsRows) {
      sync_warpgroup(place.warpgroup);
    } else {
      __syncthreads();
    }
  }
};

/// Queues the products of dW and db of a wide layer: the sums over the warpgroup's rows.
template <class T, int kWidth, class G, class H, class Ones>
__device__ void add_wide(WideSums<kWidth>& sums, const SumsOfWarpgroup<kWidth>& own, const G& g,
                         const H& h, const Ones& ones) {
#pragma unroll
  for (int k = 0; k < own.kSteps; ++k) {
    const std::uint64_t of_g = g.along_rows(own.block, own.first_step + k);
    multiply_16<T, kWidth, true, true>(sums.weight, of_g, h.along_rows(0, own.first_step + k),
                                       true);
    multiply_16<T, 8, true, true>(sums.bias, of_g, ones.along_rows(0, 0), true);
  }
}

/// add_wide() for a narrow last layer, whose dW is transposed.
template <class T, int kWidth, class G, class H, class Ones>
__device__ void add_narrow(NarrowSums& sums, const SumsOfWarpgroup<kWidth>& own, const G& g,
                           const H& h, const Ones& ones) {
#pragma unroll
  for (int k = 0; k < own.kSteps; ++k) {
    const std::uint64_t of_g = g.along_rows(0, own.first_step + k);
    multiply_16<T, kNarrowOutput, true, true>(
        sums.weight, h.along_rows(own.block, own.first_step + k), of_g, true);
    multiply_16<T, kNarrowOutput, true, true>(sums.bias, ones.along_rows(0, 0), of_g, true);
  }
}

/// The properties of a step_back().
struct BackStep {
  int rows;        ///< rows of the tile that are in the batch
  bool has_relu;   ///< false: the result is dx
  bool is_needed;  ///< whether there is a layer before, or dx is asked for
};

/// g_{l-1} = (g_l W_l) relu'(h_l), which takes the place of h_l. `add_sums` queues the products of
/// dW_l and db_l. While they run, the threads round the first 64 columns.
template <class T, int kWidth, class G, class Weight, class AddSums>
__device__ void step_back(const SwizzledTile<T, kMlpTileRows, kWidth>& h, const G& g,
                          const Weight& weight, const SumsOfWarpgroup<kWidth>& own,
                          const WarpgroupPlace& place, const BackStep& step,
                          const AddSums& add_sums) {
  constexpr int kHalves = kWidth / kSwizzledColumns, kHalf = kSwizzledColumns / kBlock;
  const OwnElements own_h(h, place);
  Fragment before[kHalves * kHalf];
  own.sync(place);
#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
    WarpgroupSums<kSwizzledColumns> dh;
    begin_products();
    multiply_by_weight(dh, g, place.first_row(), weight, half);
    commit_products();
    if (half == 0) {
      add_sums();
      commit_products();
      wait_for_products<1>();
    } else {
      wait_for_products<0>();
    }
    pin(dh);
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const int j = half * kHalf + i;
      before[j] = rounded<T>(BlockOfSums<kSwizzledColumns>(dh, i).sums);
      if (!step.has_relu) continue;
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        before[j].part[part] &= PairOf<T>::passes(own_h.pair(j, part));
      }
    }
  }
  if (kHalves == 1) wait_for_products<0>();
  own.sync(place);
  if (!step.is_needed) return;
#pragma unroll
  for (int j = 0; j < kHalves * kHalf; ++j) own_h.store(j, before[j], place, step.rows);
  show_to_products();
}

/// Stores sums(m, n) as element (m, n) of a matrix [m_size, n_size], or of its transpose. Warps
/// have 16 rows m each, from `first_m` on.
template <int N>
__device__ void store_sums_of(const WarpgroupSums<N>& sums, float* to, int first_m, int m_size,
                              int m_stride, int n_size, int n_stride) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int j = 0; j < N / 8; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int m = first_m + lane / 4 + i / 2 * 8, n = j * 8 + lane % 4 * 2 + i % 2;
      if (m < m_size && n < n_size) to[m * m_stride + n * n_stride] = sums[j][i];
    }
  }
}

}  // namespace halfgrad::detail
