#include <gtest/gtest.h>

#include <array>
#include <random>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

using Random32 = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;
using Lanes = std::array<std::uint32_t, 32>;

struct Shuffled {
  Lanes values{};
  std::uint32_t inside = 0;
};

/// The definition in the PTX ISA, word for word.
Shuffled shuffle_by_definition(const std::string& mode, const Lanes& a, const Lanes& b,
                               const Lanes& c) {
  Shuffled result;
  for (int lane = 0; lane < 32; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    const int bval = static_cast<int>(b[i] & 31), cval = static_cast<int>(c[i] & 31);
    const int segmask = static_cast<int>(c[i] >> 8 & 31);
    const int max_lane = (lane & segmask) | (cval & ~segmask), min_lane = lane & segmask;
    int j = 0;
    bool pval = false;
    if (mode == "up") j = lane - bval, pval = j >= max_lane;
    if (mode == "down") j = lane + bval, pval = j <= max_lane;
    if (mode == "bfly") j = lane ^ bval, pval = j <= max_lane;
    if (mode == "idx") j = min_lane | (bval & ~segmask), pval = j <= max_lane;
    if (!pval) j = lane;
    result.values[i] = a[static_cast<std::size_t>(j)];
    result.inside |= std::uint32_t{pval} << lane;
  }
  return result;
}

/// Loads word 32 i + lane into %r<2 + i>.
std::string load_words(unsigned count) {
  std::string text = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
  for (unsigned i = 0; i < count; ++i) {
    text +=
        "ld.global.u32 %r" + std::to_string(2 + i) + ", [%rd3+" + std::to_string(128 * i) + "];\n";
  }
  return text;
}

class Shuffle : public testing::TestWithParam<const char*> {};

TEST_P(Shuffle, FollowsItsDefinitionForAnyOperands) {
  const std::string mode = GetParam();
  Random32 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    SmallGpu gpu;
    Lanes a, b, c;
    const std::uint32_t same_b = random(), same_c = random() & 0x1f1f;
    for (std::size_t i = 0; i < 32; ++i) {
      a[i] = random();
      b[i] = trial % 2 == 0 ? same_b : random();
      c[i] = trial % 3 == 0 ? random() : trial % 3 == 1 ? same_c : mode == "up" ? 0u : 31u;
      gpu.word(i) = a[i], gpu.word(32 + i) = b[i], gpu.word(64 + i) = c[i];
    }
    const Shuffled expected = shuffle_by_definition(mode, a, b, c);
    gpu.launch(kernel(load_words(3) + "shfl.sync." + mode +
                      ".b32 %r5|%p1, %r2, %r3, %r4, 0xffffffff;\n"
                      "selp.u32 %r6, 1, 0, %p1;\n"
                      "st.global.u32 [%rd3+384], %r5;\nst.global.u32 [%rd3+512], %r6;\nret;"),
               {}, {32});
    for (std::size_t i = 0; i < 32; ++i) {
      ASSERT_EQ(gpu.word(96 + i), expected.values[i]) << mode << " lane " << i;
      ASSERT_EQ(gpu.word(128 + i), expected.inside >> i & 1) << mode << " lane " << i;
    }
    ASSERT_TRUE(gpu.findings.all().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Shuffle, testing::Values("up", "down", "bfly", "idx"));

TEST(Shuffle, MayOverwriteItsSource) {
  SmallGpu gpu;
  gpu.launch(kernel("mov.u32 %r2, %r1;\nshfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\n" +
                    std::string(kStoreResult)),
             {}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i ^ 1);
}

/// Lanes below 16 shuffle among themselves.
std::string half_warp(const std::string& shuffle) {
  return "mov.u32 %r2, %r1;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra DONE;\n" + shuffle + "DONE:\n" +
         kStoreResult;
}

TEST(Shuffle, LeavesLanesAloneThatAreNotMembers) {
  SmallGpu gpu;
  gpu.launch(kernel(half_warp("shfl.sync.idx.b32 %r2, %r1, 3, 31, 0xffff;\n")), {}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 16 ? 3 : i);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(Shuffle, FindsTheReadOfALaneThatIsNoMember) {
  SmallGpu gpu;
  gpu.launch(kernel(half_warp("shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffff;\n")), {}, {32});
  ASSERT_EQ(gpu.found(FindingKind::warp_sync).size(), 1u);
  EXPECT_EQ(gpu.found(FindingKind::warp_sync)[0].severity, Severity::error);
  EXPECT_NE(gpu.found(FindingKind::warp_sync)[0].message.find("lane 20"), std::string::npos);
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(gpu.word(i), 0u);  // not lane 20's register
}

TEST(Shuffle, MayPointBeyondItsSegmentWithoutReading) {
  SmallGpu gpu;
  // The clamp is 15: lanes 8 to 15 keep their own values.
  gpu.launch(kernel(half_warp("shfl.sync.down.b32 %r2, %r1, 8, 15, 0xffff;\n")), {}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 8 ? i + 8 : i);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(Shuffle, FindsTheReadOfALaneThatDoesNotExist) {
  SmallGpu gpu;
  gpu.launch(kernel("shfl.sync.down.b32 %r2, %r1, 16, 31, -1;\n" + std::string(kStoreResult)), {},
             {24});
  ASSERT_EQ(gpu.found(FindingKind::warp_sync).size(), 1u);
  EXPECT_NE(gpu.found(FindingKind::warp_sync)[0].message.find("exited"), std::string::npos);
}

TEST(Shuffle, FindsACallerThatTheMaskDoesNotName) {
  SmallGpu gpu;
  gpu.launch(kernel("shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff;\n" + std::string(kStoreResult)), {},
             {32});
  ASSERT_FALSE(gpu.found(FindingKind::warp_sync).empty());
  EXPECT_NE(gpu.found(FindingKind::warp_sync)[0].message.find("mask"), std::string::npos);
}

}  // namespace
}  // namespace halfgrad::emulator
