#pragma once

#include <algorithm>
#include <cstdint>

/// The rule that chooses our own kernel for a product (gemm_small.cu), and the way in which the
/// kernel divides a product among blocks. Both depend on the shape alone, so the order of a sum is
/// the same on every GPU. The limits below are estimates: nothing has been timed on a GPU.
namespace halfgrad::detail {

/// Returns whether our kernel should compute C [m, n] with sums of k terms.
///
/// cuBLASLt's usual tiles have 128 x 128 elements, so a product takes as many blocks as C has such
/// tiles, and a GPU has 100 or more multiprocessors. Ours divides a small C into smaller tiles,
/// and long sums into parts. If both C and k are large, the tensor cores are busy anyway, and
/// cuBLASLt's instructions (wgmma) are faster.
inline bool is_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kTile = 128 * 128;
  const bool few_tiles = m * n <= 32 * kTile, one_tile = m * n <= kTile;
  return one_tile || (few_tiles && k <= 1024);
}

/// A block computes tile x tile elements of C. If there are few tiles, `parts` blocks share the sum
/// over k of each.
struct SmallProductPlan {
  int tile;
  std::int64_t tiles_down, tiles_across;
  std::int64_t steps_per_part;  ///< a step is depth() terms of the sum
  int parts;

  /// Elements of k in one step: with any tile, a thread copies as much.
  static constexpr int depth(int tile) { return 2048 / tile; }

  std::int64_t tiles() const { return tiles_down * tiles_across; }
};

/// The plan with the given tile.
inline SmallProductPlan plan_small_product(int tile, std::int64_t m, std::int64_t n,
                                           std::int64_t k) {
  constexpr std::int64_t kBlocks = 128;        // about one for each multiprocessor
  constexpr std::int64_t kMostParts = 32;      // one block adds them
  constexpr std::int64_t kShortestPart = 256;  // terms: computing fewer takes less than adding
  const auto divided = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  SmallProductPlan plan{tile, divided(m, tile), divided(n, tile), 0, 1};
  const std::int64_t steps = divided(k, plan.depth(tile));
  const std::int64_t wanted =
      std::clamp<std::int64_t>(std::min(kBlocks / plan.tiles(), k / kShortestPart), 1, kMostParts);
  plan.steps_per_part = divided(steps, wanted);
  plan.parts = static_cast<int>(divided(steps, plan.steps_per_part));
  return plan;
}

/// Prefers tiles of 64, which load each element half as often, if they make enough blocks.
inline SmallProductPlan plan_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kEnoughBlocks = 100;
  const SmallProductPlan large = plan_small_product(64, m, n, k);
  const bool enough = large.tiles() * large.parts >= kEnoughBlocks;
  return enough ? large : plan_small_product(32, m, n, k);
}

}  // namespace halfgrad::detail
