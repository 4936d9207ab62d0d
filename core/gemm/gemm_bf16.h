#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/gemm.h>
#include <halfgrad/core/gemm/gemm_kernel.h>
#include <halfgrad/core/gemm/gemm_operand.h>
#include <halfgrad/core/gemm/gemm_sums.h>
#include <halfgrad/core/gemm/gemm_tile.h>

// Products of bf16 matrices by the processor's dot product of pairs, VDPBF16PS (AVX512_BF16). For
// each of 16 lanes it computes, with two fused multiply-adds,
//
//     sum = sum + a_1 b_1,   sum = sum + a_0 b_0
//
// where a_1 and b_1 are the upper halves of 32 bits. It reads half as many bytes as float operands
// take, and multiplies twice as many elements in an instruction. Packing puts the earlier element
// of a pair into the upper half, so an element of C is summed in the order of the float kernel.
// Each product is exact in float, so the bits are the same, fused or not, but for subnormal
// numbers, operands and sums, which count as 0 (Intel 64 and IA-32 Architectures Software
// Developer's Manual, VDPBF16PS).
namespace halfgrad::detail {

// Whether this processor has the instruction and profits from it, and allow_bf16_dot() is set.
bool uses_bf16_dot();

inline constexpr int kDotRows = 12,
                     kDotColumns = kSumColumns;  // a block of C, whose sums stay in registers

// The blocks of a depth, as for_each_depth_block() cuts it. An odd block ends with half a pair.
class PairBlocks {
 public:
  explicit PairBlocks(std::int64_t depth)
      : depth_(depth), count_(std::max<std::int64_t>(1, divide_up(depth, kDepthBlock))) {}

  std::int64_t count() const { return count_; }
  std::int64_t first(std::int64_t block) const { return block * depth_ / count_; }
  std::int64_t length(std::int64_t block) const { return first(block + 1) - first(block); }
  std::int64_t pairs(std::int64_t block) const { return divide_up(length(block), 2); }
  // The pairs of the longest block, which is what each takes in memory.
  std::int64_t most_pairs() const { return divide_up(divide_up(depth_, count_), 2); }
  std::int64_t total() const { return count_ * most_pairs(); }

 private:
  std::int64_t depth_, count_;
};

// A or B as bf16 bits: element k of row or column `outer`.
struct Bf16Operand {
  const std::uint16_t* data;
  std::int64_t outer, outer_stride, depth_stride;

  const std::uint16_t* at(std::int64_t o, std::int64_t k) const {
    return data + o * outer_stride + k * depth_stride;
  }
};

// The pairs of an operand in strips of Width rows or columns: [strip][block][pair][Width].
template <int Width>
struct PackedPairs {
  std::uint32_t* words;
  std::int64_t per_strip;  // pairs
  std::int64_t per_block;

  PackedPairs(std::uint32_t* memory, const PairBlocks& blocks)
      : words(memory), per_strip(blocks.total()), per_block(blocks.most_pairs()) {}

  static std::int64_t size(std::int64_t outer, const PairBlocks& blocks) {
    return divide_up(outer, Width) * blocks.total() * Width;
  }
  std::uint32_t* strip(std::int64_t outer, std::int64_t block) const {
    return words + (outer / Width * per_strip + block * per_block) * Width;
  }
};

// Packs both operands: A into `a`, B into `b`.
void pack_pairs(const Bf16Operand& from_a, const Bf16Operand& from_b, const PairBlocks& blocks,
                const PackedPairs<kDotRows>& a, const PackedPairs<kDotColumns>& b);

// Computes a tile of C.
void multiply_pairs(const Tile& tile, const PairBlocks& blocks, const PackedPairs<kDotRows>& a,
                    const PackedPairs<kDotColumns>& b, const SumsEpilogue& epilogue,
                    const MutableMatrixView& c);

}  // namespace halfgrad::detail
