#include <halfgrad/emulator/checks/clocks.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

/// A random number below `end`.
std::uint32_t below(std::mt19937& random, std::uint32_t end) {
  return static_cast<std::uint32_t>(random() % end);
}

TEST(ThreadClocksTest, RaiseKeepsLargerTimes) {
  ThreadClocks clocks(5);
  clocks.raise(32, 64, 9);
  clocks.raise(40, 100, 7);
  EXPECT_EQ(clocks.at(31), 5u);
  EXPECT_EQ(clocks.at(32), 9u);
  EXPECT_EQ(clocks.at(63), 9u);
  EXPECT_EQ(clocks.at(64), 7u);
  EXPECT_EQ(clocks.at(99), 7u);
  EXPECT_EQ(clocks.at(100), 5u);
  EXPECT_EQ(clocks.least(), 5u);
}

TEST(ThreadClocksTest, JoinOfRandomClocksIsTheMaximum) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    ThreadClocks a, b;
    std::array<Clock, 64> wanted{};
    for (int i = 0; i < 12; ++i) {
      const unsigned begin = below(random, 60), end = begin + 1 + below(random, 4);
      const Clock clock = below(random, 50);
      (i % 2 == 0 ? a : b).raise(begin, end, clock);
      for (unsigned t = begin; t < end; ++t) wanted[t] = std::max(wanted[t], clock);
    }
    a.join(b);
    for (unsigned t = 0; t < 64; ++t) ASSERT_EQ(a.at(t), wanted[t]) << "thread " << t;
  }
}

TEST(BlockTreeTest, JoinOfRandomTreesHasTheLaterTimes) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    Tree a, b;
    std::map<std::uint32_t, Clock> wanted;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t block = below(random, below(random, 3) == 0 ? 0x1000000 : 40);
      const Clock clock = 1 + below(random, 100);
      Tree& tree = i % 2 == 0 ? a : b;
      tree = join(tree, leaf(block, ThreadClocks(clock)));
      wanted[block] = std::max(wanted[block], clock);
    }
    const Tree joined = join(a, b);
    for (const auto& [block, clock] : wanted) {
      const ThreadClocks* const found = find(joined, block);
      ASSERT_NE(found, nullptr) << "block " << block;
      EXPECT_EQ(found->at(0), clock) << "block " << block;
    }
    EXPECT_EQ(find(joined, 0x1000000), nullptr);
    EXPECT_EQ(join(joined, a), joined) << "joining what is known makes no new tree";
  }
}

}  // namespace
}  // namespace halfgrad::emulator
