#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: this header is for kernels"
#endif

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/cuda/kernels/attention_tile.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>

/// Products of attention's tiles on tensor cores, for fp16 and bf16. Each of the eight warps of a
/// block computes 32 x 16 of the 64 x 64 sums, in fragments (mlp_fragments.h).
///
/// Scores are products of 16-bit elements, which a tensor core multiplies without rounding. Weights
/// are float32. Rounding them to 16 bits would lose precision, so each is split in two:
///
///     w = high + low,  high = round(w),  low = round(w - high)
///
/// Two products then keep 22 significant bits of a weight in fp16, and 16 in bf16. The sums are
/// float32.
namespace halfgrad::detail::attention {

template <class S>
inline constexpr bool kHasTensorCores = std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>;

template <class S>
using Pairs = PairOf<std::conditional_t<std::is_same_v<S, Half>, __half, __nv_bfloat16>>;

/// The exponent's bits, all of which are set in inf and NaN alone; and the largest finite element.
template <class S>
inline constexpr unsigned kExponentBits = std::is_same_v<S, Half> ? 0x7c00 : 0x7f80;
template <class S>
inline constexpr float kLargest = std::is_same_v<S, Half> ? 65504.0f : 0x1.fep127f;

/// Scales `low` in fp16, where it would be subnormal for weights below 2^-3.
template <class S>
inline constexpr float kLowScale = std::is_same_v<S, Half> ? 2048.0f : 1.0f;

/// Copies rows and columns from [i, j] on as load_tile, without widening. Returns false if an
/// element of this thread is inf or NaN.
template <class S>
__device__ bool copy_tile(const MatrixOfBatch<S>& x, std::int64_t i, std::int64_t j, int rows,
                          int width, S* tile) {
  bool finite = true;
  for (int at = static_cast<int>(threadIdx.x); at < rows * width; at += kThreadsOfTile) {
    const S element = x.stored_at(i + at / width, j + at % width);
    tile[at / width * (width + kPad) + at % width] = element;
    finite = finite && (element.bits & kExponentBits<S>) != kExponentBits<S>;
  }
  return finite;
}

/// True if none of this thread's weights overflows in 16 bits, or is inf or NaN.
template <class S>
__device__ bool weights_fit(const SharedTiles<float>& shared) {
  bool fits = true;
  each_score<float>(0, 0, [&](int i, int j, auto, auto) {
    fits = fits && fabsf(shared.weights[row(i)][column(j)]) <= kLargest<S>;
  });
  return fits;
}

/// A warp's 32 x 16 sums of products: blocks of 16 rows, of which each has two fragments of 8
/// columns side by side.
template <class S>
class WarpProducts {
  using Element = std::conditional_t<std::is_same_v<S, Half>, __half, __nv_bfloat16>;
  static constexpr int kBlocks = 2;
  using Sums = float[kBlocks][2][4];

 public:
  /// Adds the dot products of kDepth elements of the rows of two tiles.
  __device__ void add_dots(const S* left, const S* right) {
    constexpr int kStride = kDepth + kPad;
#pragma unroll
    for (int k = 0; k < kDepth; k += kBlock) {
      const Fragment b = load_b_transposed(right + first_column() * kStride + k, kStride);
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        multiply(high_[i], load_a(left + (first_row() + i * kBlock) * kStride + k, kStride), b);
      }
    }
  }

  /// Adds weights[row][first + k] tile[k][column], or weights[first + k][row] if kTransposed, for
  /// kDepth rows k.
  template <bool kTransposed>
  __device__ void add_weighted(const SharedTiles<float>& shared, int first, const S* tile) {
    constexpr int kStride = kSide<float> + kPad;
#pragma unroll
    for (int k = 0; k < kDepth; k += kBlock) {
      const Fragment b = load_b(tile + k * kStride + first_column(), kStride);
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        Fragment high, low;
        split<kTransposed>(shared, first_row() + i * kBlock, first + k, high, low);
        multiply(high_[i], high, b);
        multiply(low_[i], low, b);
      }
    }
  }

  /// sums += the products, which go through shared.weights to the threads of a Part.
  __device__ void add_to(SharedTiles<float>& shared, Part<float>& sums) const {
    __syncthreads();  // after the last look at the weights
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          shared.weights[first_row() + i * kBlock + group() + e / 2 * 8]
                        [first_column() + j * 8 + pair() + e % 2] =
              high_[i][j][e] + low_[i][j][e] / kLowScale<S>;
        }
      }
    }
    __syncthreads();
    each_score<float>(
        0, 0, [&](int i, int j, auto, auto) { sums[i][j] += shared.weights[row(i)][column(j)]; });
  }

 private:
  static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
  static __device__ int first_row() { return warp() / 4 * 32; }
  static __device__ int first_column() { return warp() % 4 * 16; }
  /// The row g of this lane in a fragment, and the first column 2t of its pairs.
  static __device__ int group() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  static __device__ int pair() { return static_cast<int>(threadIdx.x) % 4 * 2; }

  static __device__ void multiply(float (&sums)[2][4], const Fragment& a, const Fragment& b) {
    multiply_add<Element>(sums[0], a, b.part[0], b.part[1]);
    multiply_add<Element>(sums[1], a, b.part[2], b.part[3]);
  }

  /// Loads 16 x 16 weights, and splits each.
  template <bool kTransposed>
  static __device__ void split(const SharedTiles<float>& shared, int r, int c, Fragment& high,
                               Fragment& low) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int at = r + group() + part % 2 * 8, k = c + pair() + part / 2 * 8;
      const float x = kTransposed ? shared.weights[k][at] : shared.weights[at][k];
      const float y = kTransposed ? shared.weights[k + 1][at] : shared.weights[at][k + 1];
      high.part[part] = Pairs<S>::narrow(x, y);
      const float2 rounded = Pairs<S>::widen(high.part[part]);
      low.part[part] =
          Pairs<S>::narrow((x - rounded.x) * kLowScale<S>, (y - rounded.y) * kLowScale<S>);
    }
  }

  Sums high_ = {}, low_ = {};
};

/// add_dots (attention_products.h) on tensor cores.
template <class S>
__device__ void add_dots_by_warps(const MatrixOfBatch<S>& a, std::int64_t first_a,
                                  const MatrixOfBatch<S>& b, std::int64_t first_b,
                                  SharedTiles<float>& shared, Part<float>& sums) {
  S* const left = reinterpret_cast<S*>(shared.left);
  S* const right = reinterpret_cast<S*>(shared.right);
  WarpProducts<S> products;
  for (std::int64_t depth = 0; depth < a.columns; depth += kDepth) {
    copy_tile(a, first_a, depth, kSide<float>, kDepth, left);
    copy_tile(b, first_b, depth, kSide<float>, kDepth, right);
    __syncthreads();
    products.add_dots(left, right);
    __syncthreads();
  }
  products.add_to(shared, sums);
}

}  // namespace halfgrad::detail::attention
