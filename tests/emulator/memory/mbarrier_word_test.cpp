#include <halfgrad/emulator/ptx/instructions/mbarrier_word.h>

#include <gtest/gtest.h>

namespace halfgrad::emulator {
namespace {

TEST(MbarrierWord, SurvivesTheWayThroughItsBits) {
  for (const std::int32_t transactions : {0, 1, -1, (1 << 20) - 1, -(1 << 20) + 1}) {
    for (const bool phase : {false, true}) {
      const MbarrierWord word{MbarrierWord::kLargestCount, 7, transactions, phase};
      const MbarrierWord read = MbarrierWord::from_bits(word.bits());
      EXPECT_EQ(read.pending, word.pending);
      EXPECT_EQ(read.expected, 7u);
      EXPECT_EQ(read.transactions, transactions);
      EXPECT_EQ(read.phase, phase);
    }
  }
}

TEST(MbarrierWord, APhaseNeedsAllArrivalsAndAllBytes) {
  MbarrierWord word{.pending = 1, .expected = 2, .transactions = 0, .phase = false};
  word.complete_if_ready();
  EXPECT_FALSE(word.phase);
  word.pending = 0;
  word.transactions = 16;
  word.complete_if_ready();
  EXPECT_FALSE(word.phase);
  word.transactions = 0;
  word.complete_if_ready();
  EXPECT_TRUE(word.phase);
  EXPECT_EQ(word.pending, 2u);
}

}  // namespace
}  // namespace halfgrad::emulator
