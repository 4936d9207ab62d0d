// The rule that chooses our kernel for a small C, and its division of a product. Runs without a
// GPU.
#include <halfgrad/core/cuda/kernels/gemm_small_plan.h>

#include <string>

#include <gtest/gtest.h>

namespace halfgrad::detail {
namespace {

TEST(SmallProductPlan, IsForAFewTilesOfC) {
  EXPECT_TRUE(is_small_product(256, 512, 784));    // forward of a layer 784-512
  EXPECT_TRUE(is_small_product(512, 784, 256));    // and its gradient
  EXPECT_TRUE(is_small_product(64, 64, 1 << 18));  // the gradient of a narrow layer
  EXPECT_TRUE(is_small_product(1, 1, 1));
  EXPECT_FALSE(is_small_product(1 << 18, 64, 64));  // a large batch makes many tiles
  EXPECT_FALSE(is_small_product(512, 512, 8192));   // enough arithmetic for cuBLASLt
  EXPECT_FALSE(is_small_product(4096, 4096, 4096));
}

// The table of docs/performance_gpu.md.
TEST(SmallProductPlan, GivesMostMultiprocessorsABlock) {
  struct Case {
    std::int64_t m, n, k;
    int tile;
    std::int64_t tiles;
    int parts;
  };
  for (const Case& each :
       {Case{256, 512, 784, 32, 128, 1}, Case{256, 512, 512, 32, 128, 1},
        Case{256, 10, 512, 32, 8, 1}, Case{256, 512, 10, 32, 128, 1}, Case{10, 512, 256, 32, 16, 1},
        Case{512, 512, 256, 32, 256, 1}, Case{512, 784, 256, 64, 104, 1},
        Case{64, 64, 1 << 14, 32, 4, 16}, Case{128, 128, 1 << 14, 32, 16, 8},
        Case{64, 64, 1 << 18, 32, 4, 32}, Case{128, 128, 1 << 18, 64, 4, 32}}) {
    SCOPED_TRACE(std::to_string(each.m) + " " + std::to_string(each.n));
    EXPECT_TRUE(is_small_product(each.m, each.n, each.k));
    const SmallProductPlan plan = plan_small_product(each.m, each.n, each.k);
    EXPECT_EQ(plan.tile, each.tile);
    EXPECT_EQ(plan.tiles(), each.tiles);
    EXPECT_EQ(plan.parts, each.parts);
  }
}

TEST(SmallProductPlan, CoversEveryElementOnce) {
  for (const std::int64_t m : {1, 31, 32, 33, 64, 100, 512, 5000}) {
    for (const std::int64_t n : {1, 10, 64, 65, 784}) {
      for (const std::int64_t k : {1, 255, 256, 511, 512, 513, 5000, 100'003}) {
        const SmallProductPlan plan = plan_small_product(m, n, k);
        EXPECT_GE(plan.tiles_down * plan.tile, m);
        EXPECT_LT((plan.tiles_down - 1) * plan.tile, m);
        EXPECT_GE(plan.tiles_across * plan.tile, n);
        EXPECT_LT((plan.tiles_across - 1) * plan.tile, n);
        const std::int64_t part = plan.steps_per_part * plan.depth(plan.tile);
        EXPECT_GE(plan.parts * part, k);
        EXPECT_LT((plan.parts - 1) * part, k);  // no part is empty
        if (plan.parts > 1) {
          EXPECT_LE(plan.tiles() * plan.parts, 128);
        }
      }
    }
  }
}

}  // namespace
}  // namespace halfgrad::detail
