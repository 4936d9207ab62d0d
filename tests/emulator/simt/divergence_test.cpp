#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

TEST(Divergence, NestedBranchesMeetAgain) {
  // if (tid < 16) { if (tid < 4) r = 1 else r = 2; r += 10 } else r = 3;  out[tid] = r + 100
  const std::string text = kernel(std::string(R"(
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra OUTER_ELSE;
    setp.ge.u32 %p2, %r1, 4;
    @%p2 bra INNER_ELSE;
    mov.u32 %r3, 1;
    bra INNER_END;
  INNER_ELSE:
    mov.u32 %r3, 2;
  INNER_END:
    add.u32 %r3, %r3, 10;
    bra OUTER_END;
  OUTER_ELSE:
    mov.u32 %r3, 3;
  OUTER_END:
    add.u32 %r2, %r3, 100;
  )") + kStoreResult);
  SmallGpu gpu;
  const LaunchCounters counters = gpu.launch(text, {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i < 4 ? 111u : i < 16 ? 112u : 103u);
  EXPECT_EQ(counters_of(gpu, counters, "%r3, 10").executed, 1u);
  EXPECT_EQ(counters_of(gpu, counters, "%r3, 10").active_lanes, 16u);
  EXPECT_EQ(counters_of(gpu, counters, "%r3, 100").executed, 1u);
  EXPECT_EQ(counters_of(gpu, counters, "%r3, 100").active_lanes, 32u);
}

TEST(Divergence, LoopsOfDifferentTripCountsMeetBehindTheLoop) {
  // r = sum of 0..tid, one addition a trip.
  const std::string text = kernel(std::string(R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  LOOP:
    add.u32 %r2, %r2, %r3;
    add.u32 %r3, %r3, 1;
    setp.le.u32 %p1, %r3, %r1;
    @%p1 bra LOOP;
  )") + kStoreResult);
  SmallGpu gpu;
  const LaunchCounters counters = gpu.launch(text, {1}, {100});
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(gpu.word(i), i * (i + 1) / 2);
  EXPECT_EQ(counters_of(gpu, counters, "st.global").executed, 4u);
  EXPECT_EQ(counters_of(gpu, counters, "st.global").active_lanes, 100u);
  // Warp w runs its longest lane's trips: 32, 64, 96 and 100.
  EXPECT_EQ(counters_of(gpu, counters, "%r2, %r3").executed, 32u + 64 + 96 + 100);
}

TEST(Divergence, AGuardLimitsAnInstructionToItsLanes) {
  const std::string text = kernel(std::string(R"(
    mov.u32 %r2, 7;
    setp.eq.u32 %p1, %r1, 5;
    @%p1 mov.u32 %r2, 8;
    @!%p1 add.u32 %r2, %r2, 2;
  )") + kStoreResult);
  SmallGpu gpu;
  const LaunchCounters counters = gpu.launch(text, {1}, {32});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), i == 5 ? 8u : 9u);
  EXPECT_EQ(counters_of(gpu, counters, "%r2, 8").active_lanes, 1u);
}

TEST(Divergence, IndexedBranchesTakeTheirTable) {
  const std::string text = kernel(std::string(R"(
    and.b32 %r3, %r1, 3;
  TABLE: .branchtargets CASE0, CASE1, CASE2, CASE1;
    brx.idx %r3, TABLE;
  CASE0:
    mov.u32 %r2, 100;
    bra END;
  CASE1:
    mov.u32 %r2, 200;
    bra END;
  CASE2:
    mov.u32 %r2, 300;
  END:
    add.u32 %r2, %r2, 1;
  )") + kStoreResult);
  SmallGpu gpu;
  const LaunchCounters counters = gpu.launch(text, {1}, {32});
  const unsigned expected[] = {101, 201, 301, 201};
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), expected[i % 4]);
  EXPECT_EQ(counters_of(gpu, counters, "%r2, 200").active_lanes, 16u);
  EXPECT_EQ(counters_of(gpu, counters, "%r2, 1;").executed, 1u);
}

TEST(Divergence, AnIndexBeyondTheTableAborts) {
  const std::string text = kernel(R"(
  TABLE: .branchtargets CASE0, CASE0;
    brx.idx %r1, TABLE;
  CASE0:
    ret;
  )");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {32}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::trap).size(), 1u);
}

TEST(Divergence, LanesExitUnderAGuard) {
  const std::string text = kernel(std::string(R"(
    mov.u32 %r2, 1;
    setp.gt.u32 %p1, %r1, 9;
    @%p1 exit;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {64});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(gpu.word(i), i <= 9 ? 1u : 0u);
}

TEST(Divergence, APartialWarpHasItsLanesOnly) {
  const std::string text = kernel(std::string("activemask.b32 %r2;\n") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {37});
  EXPECT_EQ(gpu.word(0), 0xffffffffu);
  EXPECT_EQ(gpu.word(36), 0x1fu);
  EXPECT_EQ(gpu.word(37), 0u);
}

TEST(Divergence, SpecialRegistersFollowThreeDimensions) {
  const std::string text = kernel(std::string(R"(
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ntid.y;
    mov.u32 %r5, %tid.y;
    mov.u32 %r6, %tid.z;
    mad.lo.u32 %r7, %r6, %r4, %r5;
    mad.lo.u32 %r8, %r7, %r3, %r1;
    mov.u32 %r9, %ctaid.x;
    mov.u32 %r10, %ctaid.y;
    mov.u32 %r11, %ctaid.z;
    mov.u32 %r12, %nctaid.x;
    mov.u32 %r13, %nctaid.y;
    mad.lo.u32 %r14, %r11, %r13, %r10;
    mad.lo.u32 %r15, %r14, %r12, %r9;
    mad.lo.u32 %r1, %r15, 60, %r8;
    add.u32 %r2, %r1, 1;
  )") + kStoreResult);
  SmallGpu gpu(24 * 60);
  gpu.launch(text, {2, 3, 4}, {3, 4, 5});
  for (unsigned i = 0; i < 24 * 60; ++i) ASSERT_EQ(gpu.word(i), i + 1);
}

}  // namespace
}  // namespace halfgrad::emulator
