#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

TEST(WarpSync, WaitsForLanesOfAnotherBranch) {
  // Lanes 0-15 take a detour before the shuffle that all execute.
  const std::string text = kernel(std::string(R"(
    mov.u32 %r3, %r1;
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra MEET;
    add.u32 %r3, %r3, 100;
  MEET:
    shfl.sync.bfly.b32 %r2, %r3, 16, 31, -1;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 16 ? i + 16 : i + 84);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(WarpSync, HalvesWithMasksOfTheirOwnGoOnAlone) {
  // Each half loops a different number of times over a shuffle of its own.
  const std::string text = kernel(std::string(R"(
    setp.ge.u32 %p1, %r1, 16;
    selp.b32 %r4, 0xffff0000, 0x0000ffff, %p1;
    selp.u32 %r5, 5, 3, %p1;
    mov.u32 %r2, %r1;
  LOOP:
    shfl.sync.down.b32 %r3, %r2, 1, 31, %r4;
    add.u32 %r2, %r2, 1;
    sub.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, 0;
    @%p2 bra LOOP;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 16 ? i + 3 : i + 5);
}

TEST(WarpSync, LanesMeetAtDifferentWarpBarriers) {
  const std::string text = kernel(std::string(R"(
    .shared .align 4 .b8 slot[4];
    mov.u32 %r2, 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OTHERS;
    mov.u32 %r3, 5;
    st.shared.u32 [slot], %r3;
    bar.warp.sync -1;
    bra END;
  OTHERS:
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r2, [slot];
  END:
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  for (unsigned i = 1; i < 32; ++i) EXPECT_EQ(gpu.word(i), 5u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(WarpSync, HalvesThatLoopDifferentlyMeetAtDifferentShuffles) {
  // Each half shuffles in a segment of its own, and names all lanes. The half that leaves the loop
  // first meets the other one at the shuffle after it.
  const std::string text = kernel(std::string(R"(
    setp.ge.u32 %p1, %r1, 16;
    selp.u32 %r5, 3, 2, %p1;
    mov.u32 %r2, %r1;
  LOOP:
    shfl.sync.idx.b32 %r2, %r2, 1, 0x101f, -1;
    add.u32 %r2, %r2, %r1;
    sub.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, 0;
    @%p2 bra LOOP;
    shfl.sync.idx.b32 %r2, %r2, 2, 0x101f, -1;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  // After k turns lane l holds l + k s, where s is the number of lane 1 of its half.
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 16 ? 2u + 2 * 1 : 18u + 3 * 17);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(WarpSync, AReadAcrossDifferentShufflesIsFound) {
  const std::string text = kernel(std::string(R"(
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra OTHERS;
    shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
    bra END;
  OTHERS:
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
  END:
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  const auto findings = gpu.found(FindingKind::warp_sync);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].thread, "(0,0,0)");
  EXPECT_NE(findings[0].message.find("lane 16, which does not take part"), std::string::npos);
}

TEST(WarpSync, ExitedLanesAreNotWaitedFor) {
  const std::string text = kernel(std::string(R"(
    setp.ge.u32 %p1, %r1, 20;
    @%p1 exit;
    vote.sync.ballot.b32 %r2, %p1, -1;
    not.b32 %r2, %r2;
    bar.warp.sync -1;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  EXPECT_EQ(gpu.word(0), 0xffffffffu);
  EXPECT_EQ(gpu.word(20), 0u);
}

TEST(WarpSync, AMaskThatMissesTheCallerIsFound) {
  const std::string text = kernel("bar.warp.sync 0xfffffffe;\nret;\n");
  SmallGpu gpu;
  gpu.launch(text, {1}, {32});
  const auto findings = gpu.found(FindingKind::warp_sync);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].thread, "(0,0,0)");
  EXPECT_NE(findings[0].message.find("0xfffffffe"), std::string::npos);
}

TEST(WarpSync, LanesThatNeverComeAreReported) {
  // Half of the warp waits at a shuffle, the other half at a block barrier.
  const std::string text = kernel(R"(
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra OTHERS;
    shfl.sync.down.b32 %r3, %r1, 1, 31, -1;
    bar.sync 0;
    ret;
  OTHERS:
    bar.sync 0;
    ret;
  )");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {64}), KernelAborted);
  const auto findings = gpu.found(FindingKind::warp_sync);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].instruction.find("shfl.sync"), std::string::npos);
  EXPECT_NE(findings[0].message.find("lanes 16-31"), std::string::npos);
}

}  // namespace
}  // namespace halfgrad::emulator
