#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <halfgrad/core/cuda/kernels/mlp_passes.h>
#include <halfgrad/core/cuda/kernels/warpgroup.h>

/// The parts of the kernels that take a group of an MLP's layers through the products of
/// warpgroups: the group, its shared memory, and one layer for the 64 rows of a warpgroup.
namespace halfgrad::detail {

inline constexpr int kNarrowOutput = 16;  ///< features of a last layer that counts as narrow

/// The layers of a group, which are adjacent.
struct MlpGroup {
  int begin, end;
  const void* h;            ///< h_begin [rows, n_begin]; null: x
  const void* g = nullptr;  ///< g_{end-1} [rows, n_end]; null: the gradient of the loss
  /// The memory for g_{begin-1} or dx; null if it is not needed. In a forward pass, for h_end.
  void* below = nullptr;
  float* parts = nullptr;  ///< [parts, parameters] of all layers: the group's begin at `offset`
  std::int64_t parameters = 0, offset = 0;

  __host__ __device__ int layers() const { return end - begin; }
};

/// Wide layers of a group: a thread has W / 2 registers for the sums of each dW.
template <int kWidth>
inline constexpr int kWideLayers = kWidth == 128 ? 2 : 4;

/// Returns x, and hides its origin from the compiler, which therefore computes addresses from it
/// where they are used. Otherwise it would compute all of them before the loop over tiles and keep
/// them in registers, which the sums need.
template <class Int>
__device__ Int computed_here(Int x) {
  asm volatile("" : "+r"(x));
  return x;
}

/// The shared memory of a block, which is aligned to 1024 bytes. Each layer's weight is padded with
/// zeros: a last layer of at most 16 features, if kNarrow, to 16 rows, and others to kWidth.
template <class T, int kWidth, bool kNarrow>
struct GroupMemory {
  static constexpr int kOut = kNarrow ? kNarrowOutput : kWidth;
  using Rows = SwizzledTile<T, kMlpTileRows, kWidth>;
  using Outputs = SwizzledTile<T, kMlpTileRows, kOut>;
  using Weight = SwizzledTile<T, kWidth, kWidth>;
  using LastWeight = SwizzledTile<T, kOut, kWidth>;
  using Ones = SwizzledTile<T, kBlock, kSwizzledColumns>;

  T* first;
  std::uint32_t start;
  int layers;

  __device__ GroupMemory(std::byte* memory, int layers_of_group) : layers(layers_of_group) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    const std::uint32_t skipped = (kAlignment - address % kAlignment) % kAlignment;
    first = reinterpret_cast<T*>(memory + skipped);
    start = (address + skipped) / 16;
  }
  static std::size_t bytes(int layers) {
    return kAlignment + static_cast<std::size_t>(elements(layers)) * sizeof(T) +
           static_cast<std::size_t>(layers * kWidth) * sizeof(float) +
           static_cast<std::size_t>(kMlpTileRows * (kOut + kPad)) * sizeof(T);
  }

  __device__ int wide() const { return layers - kNarrow; }
  /// h_{begin+i}, in whose place its gradient is stored later.
  __device__ Rows h(int i) const { return tile<Rows>(i * Rows::kElements); }
  /// g_{end-1}
  __device__ Outputs last_g() const { return tile<Outputs>(layers * Rows::kElements); }
  /// The weight of the group's layer i.
  __device__ Weight weight(int i) const { return tile<Weight>(tiles() + i * Weight::kElements); }
  __device__ LastWeight last_weight() const {
    return tile<LastWeight>(tiles() + (layers - 1) * Weight::kElements);
  }
  __device__ Ones ones() const { return tile<Ones>(tiles() + weights(layers)); }
  __device__ float* bias(int i) const {
    return reinterpret_cast<float*>(first + elements(layers)) + i * kWidth;
  }
  /// 16 rows for a warp's logits.
  __device__ PaddedTile<T, kOut> logits(int warp) const {
    return {reinterpret_cast<T*>(bias(layers)) + warp * kBlock * (kOut + kPad)};
  }

  /// All threads of the block call it. The caller synchronises.
  __device__ void load(const MlpOperands& op, int begin) const {
    const int rank = static_cast<int>(threadIdx.x);
    for (int i = 0; i < layers; ++i) {
      const int l = begin + i, in = op.sizes[l], out = op.sizes[l + 1];
      const auto load_weight = [&](const auto& to, int rows) {
        load_rows<T>(to, rows, kWidth, static_cast<const T*>(op.weights[l]), out, in, rank,
                     kMlpThreads);
      };
      i == wide() ? load_weight(last_weight(), kOut) : load_weight(weight(i), kWidth);
      const T* const from = static_cast<const T*>(op.biases[l]);
      for (int k = rank; k < kWidth; k += kMlpThreads) {
        bias(i)[k] = from != nullptr && k < out ? static_cast<float>(from[k]) : 0;
      }
    }
    for (int k = rank; k < Ones::kElements; k += kMlpThreads) ones().first[k] = T(1);
    show_to_products();
  }

 private:
  static constexpr std::uint32_t kAlignment = 1024;

  template <class Tile>
  __device__ Tile tile(int elements_before) const {
    return {first + computed_here(elements_before),
            computed_here(start) + static_cast<std::uint32_t>(elements_before / 8)};
  }
  __device__ int tiles() const { return layers * Rows::kElements + Outputs::kElements; }
  static __host__ __device__ constexpr int weights(int layers) {
    return (layers - 1) * Weight::kElements + LastWeight::kElements;
  }
  static __host__ __device__ constexpr int elements(int layers) {
    return layers * Rows::kElements + Outputs::kElements + weights(layers) + Ones::kElements;
  }
};

inline __device__ unsigned tiles_of(const MlpOperands& op) {
  return static_cast<unsigned>((op.rows + kMlpTileRows - 1) / kMlpTileRows);
}

/// A warpgroup's place in its block, and its 64 rows of a tile.
struct WarpgroupPlace {
  int warpgroup, warp, lane;  ///< the warp among all of the block
  int row;                    ///< the first row that this thread has sums of; the other is row + 8

  __device__ WarpgroupPlace()
      : warpgroup(static_cast<int>(threadIdx.x) / kWarpgroupThreads),
        warp(static_cast<int>(threadIdx.x) / kWarp),
        lane(static_cast<int>(threadIdx.x) % kWarp),
        row(warp * kBlock + lane / 4) {}
  __device__ int first_row() const { return warpgroup * kWarpgroupRows; }
  /// How many of the warpgroup's rows, from row `first` of the batch, are in the batch.
  static __device__ int rows_of(const MlpOperands& op, std::int64_t first) {
    return static_cast<int>(std::clamp<std::int64_t>(op.rows - first, 0, kWarpgroupRows));
  }
  __device__ int rank() const { return static_cast<int>(threadIdx.x) % kWarpgroupThreads; }
  /// Shows what the threads of this warpgroup have stored to all of them and to their products.
  __device__ void publish() const {
    show_to_products();
    sync_warpgroup(warpgroup);
  }
};

/// sums = 64 rows of h times W^T, for N rows of W from row N `block` on.
template <class T, int N, int kOut, int kWidth>
__device__ void multiply_by_transpose(WarpgroupSums<N>& sums,
                                      const SwizzledTile<T, kMlpTileRows, kWidth>& h, int first_row,
                                      const SwizzledTile<T, kOut, kWidth>& weight, int block) {
#pragma unroll
  for (int k = 0; k < kWidth / kBlock; ++k) {
    multiply_16<T, N, false, false>(sums, h.from_row(first_row).along_columns(k),
                                    weight.from_row(N * block).along_columns(k), k > 0);
  }
}

/// sums = 64 rows of g times columns of W, 64 from 64 `block` on.
template <class T, int kDepth, int kWidth, int kColumnsOfG>
__device__ void multiply_by_weight(WarpgroupSums<kSwizzledColumns>& sums,
                                   const SwizzledTile<T, kMlpTileRows, kColumnsOfG>& g,
                                   int first_row, const SwizzledTile<T, kDepth, kWidth>& weight,
                                   int block) {
#pragma unroll
  for (int k = 0; k < kDepth / kBlock; ++k) {
    multiply_16<T, kSwizzledColumns, false, true>(sums, g.from_row(first_row).along_columns(k),
                                                  weight.along_rows(block, k), k > 0);
  }
}

/// A thread's 16 x 16 block j of the sums of its warp.
template <int N>
struct BlockOfSums {
  float sums[2][4];

  __device__ BlockOfSums(const WarpgroupSums<N>& all, int j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[half][i] = all[2 * j + half][i];
    }
  }
};

/// A thread's elements of a tile, as fragments have them.
template <class T, int kWidth>
class OwnElements {
 public:
  using Tile = SwizzledTile<T, kMlpTileRows, kWidth>;

  __device__ OwnElements(const Tile& tile, const WarpgroupPlace& place)
      : tile_(reinterpret_cast<std::byte*>(tile.first)),
        own_(computed_here(place.row * kBytesOfRow | Tile::swizzle(place.row) * 16 |
                           place.lane % 4 * 4)) {}

  /// Part p of block j: tile.at(row + 8 (p mod 2), 16 j + 8 (p / 2) + 2 (lane mod 4)). The rows
  /// have one swizzle.
  __device__ std::uint32_t& pair(int j, int part) const {
    const int chunk = 2 * j + part / 2;
    return *reinterpret_cast<std::uint32_t*>(tile_ + (own_ ^ chunk % Tile::kChunks * 16) +
                                             chunk / Tile::kChunks * kMlpTileRows * kBytesOfRow +
                                             part % 2 * 8 * kBytesOfRow);
  }
  /// Stores block j. Rows from `rows` on become 0.
  __device__ void store(int j, const Fragment& f, const WarpgroupPlace& place, int rows) const {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      pair(j, part) = place.row + part % 2 * 8 < rows ? f.part[part] : 0;
    }
  }

 private:
  static constexpr int kBytesOfRow = Tile::kBlockColumns * sizeof(T);

  std::byte* tile_;
  int own_;
};

/// h_{l+1} = relu(h_l W_l^T + b_l) for 64 rows of a tile, of which the first `rows` are in the
/// batch.
template <class T, int kWidth>
__device__ void hidden_layer(const SwizzledTile<T, kMlpTileRows, kWidth>& from,
                             const SwizzledTile<T, kWidth, kWidth>& weight, const float* bias,
                             const SwizzledTile<T, kMlpTileRows, kWidth>& to,
                             const WarpgroupPlace& place, int rows) {
  constexpr int kBlocks = kSwizzledColumns / kBlock;
  const OwnElements own(to, place);
#pragma unroll
  for (int half = 0; half < kWidth / kSwizzledColumns; ++half) {
    WarpgroupSums<kSwizzledColumns> sums;
    begin_products();
    multiply_by_transpose<T, kSwizzledColumns>(sums, from, place.first_row(), weight, half);
    commit_products();
    wait_for_products<0>();
    pin(sums);
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      const int j = half * kBlocks + i;
      Fragment h = add_bias<T>(BlockOfSums<kSwizzledColumns>(sums, i).sums, bias + j * kBlock);
      activate<T, MlpRelu>(h, MlpActivation::relu);
      own.store(j, h, place, rows);
    }
  }
  place.publish();
}

/// Loads the 64 rows of a warpgroup for tile `number`: of h, or of x if h is null. Asks for the
/// same rows of the block's next tile, so that the memory works while this tile is computed.
template <class T, int kWidth>
__device__ void load_group_rows(const SwizzledTile<T, kMlpTileRows, kWidth>& tile,
                                const MlpOperands& op, const void* h, int columns, unsigned number,
                                const WarpgroupPlace& place) {
  const std::int64_t first = static_cast<std::int64_t>(number) * kMlpTileRows + place.first_row();
  const auto own = tile.from_row(computed_here(place.first_row()));
  const auto load = [&](const auto* from) {
    load_rows<T>(own, kWarpgroupRows, kWidth, from + first * columns, place.rows_of(op, first),
                 columns, computed_here(place.rank()), kWarpgroupThreads);
    const std::int64_t next =
        static_cast<std::int64_t>(number + gridDim.x) * kMlpTileRows + place.warp * kBlock;
    prefetch(from + next * columns, rows_of_warp(op, next) * columns * sizeof(*from), place.lane);
  };
  if (h != nullptr) {
    load(static_cast<const T*>(h));
  } else if (op.x_is_float) {
    load(static_cast<const float*>(op.x));
  } else {
    load(static_cast<const T*>(op.x));
  }
}

/// Stores a warp's 16 rows of a tile, of which `rows` are in the batch.
template <class T, int kWidth>
__device__ void store_group_rows(void* to, const SwizzledTile<T, kMlpTileRows, kWidth>& tile,
                                 int columns, std::int64_t first, int rows,
                                 const WarpgroupPlace& place) {
  const int skipped = place.warp * kBlock - place.first_row();
  store_rows(static_cast<T*>(to) + (first + skipped) * columns, tile.from_row(place.warp * kBlock),
             std::clamp(rows - skipped, 0, int{kBlock}), columns, computed_here(place.lane));
}

}  // namespace halfgrad::detail
