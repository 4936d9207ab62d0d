#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

/// The rule that chooses our own kernel for a product (gemm_small.cu), and the way in which the
/// kernel divides a product among blocks. Both depend on the shape alone, so the order of a sum is
/// the same on every GPU.
namespace halfgrad::detail {

/// Returns whether C [m, n], with sums of k terms, is small: our kernel computes it if it is a
/// gradient, or if C is narrow.
///
/// cuBLASLt's usual tiles have 128 x 128 elements, so a product takes as many blocks as C has such
/// tiles, and a GPU has 100 or more multiprocessors. Our kernel divides a small C into smaller
/// tiles, and long sums into parts. If both C and k are large, the tensor cores are busy anyway,
/// and cuBLASLt's instructions (wgmma) are faster.
inline bool is_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kTile = 128 * 128;
  const bool few_tiles = m * n <= 32 * kTile, one_tile = m * n <= kTile;
  return one_tile || (few_tiles && k <= 1024);
}

/// Returns whether C has so few rows or columns that cuBLASLt's tiles are mostly padding.
inline bool is_narrow_product(std::int64_t m, std::int64_t n) {
  return std::min(m, n) <= 16 && m * n <= 128 * 128;
}

/// A block computes tile x tile elements of C. If there are few tiles, `parts` blocks share the sum
/// over k of each.
struct SmallProductPlan {
  int tile;
  std::int64_t tiles_down, tiles_across;
  std::int64_t steps_per_part;  ///< a step is depth() terms of the sum
  int parts;

  /// Elements of k in one step: with any tile, a thread copies as much.
  static constexpr int depth(int tile) { return 4096 / tile; }

  std::int64_t tiles() const { return tiles_down * tiles_across; }
};

inline constexpr std::int64_t kProductBlocks = 128;  ///< about one for each multiprocessor

/// Returns the estimated time of a plan, in bytes that a multiprocessor could load from the L2
/// cache meanwhile (about 64 in a clock cycle). The arithmetic takes less, and overlaps the loads.
inline std::int64_t estimated_time(const SmallProductPlan& plan) {
  // A fence, a counter in global memory and the first load after them take about 1000 cycles.
  constexpr std::int64_t kLastBlock = 64 * 1000;
  const std::int64_t blocks = plan.tiles() * plan.parts;
  const std::int64_t blocks_each = (blocks + kProductBlocks - 1) / kProductBlocks;
  const std::int64_t k = plan.steps_per_part * plan.depth(plan.tile);
  const std::int64_t operands = 2 * plan.tile * k * 2;                             // 2 bytes each
  const std::int64_t sums = std::int64_t{plan.parts} * plan.tile * plan.tile * 4;  // f32
  return blocks_each * operands + (plan.parts == 1 ? 0 : kLastBlock + sums);
}

/// Returns the fastest plan by estimated_time. Large tiles load each element of A and B less often,
/// many parts make each block's sum shorter, and few of them leave less for the last block to add.
inline SmallProductPlan plan_small_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto divided = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  SmallProductPlan fastest{};
  for (const int tile : {32, 64}) {
    SmallProductPlan plan{tile, divided(m, tile), divided(n, tile), 0, 1};
    const std::int64_t steps = divided(k, plan.depth(tile));
    for (std::int64_t wanted = 1;
         wanted == 1 || (wanted <= steps && wanted * plan.tiles() <= kProductBlocks); wanted *= 2) {
      plan.steps_per_part = divided(steps, wanted);
      plan.parts = static_cast<int>(divided(steps, plan.steps_per_part));
      const bool first = fastest.tile == 0;
      if (first || estimated_time(plan) < estimated_time(fastest)) fastest = plan;
    }
  }
  return fastest;
}

/// Returns whether our kernel should compute y = x w^T, y [m, n] with sums of k terms, and the
/// gradient of w, if it thereby saves the cast of a float32 x.
///
/// On an H100 cuBLASLt takes 0.7 of our kernel's time for y if all our blocks run at once, and less
/// if they do not. The launch of the cast takes the other 0.3.
inline bool is_worth_rounding(std::int64_t m, std::int64_t n, std::int64_t k) {
  return is_small_product(m, n, k) && is_small_product(n, k, m) &&
         plan_small_product(m, n, k).tiles() <= kProductBlocks;
}

}  // namespace halfgrad::detail
