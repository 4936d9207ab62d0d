#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

TEST(Progress, LanesOfOneWarpShareASpinLock) {
  // word 0 is the lock; word 1 is incremented without atomics while it is held.
  const std::string text = kernel(R"(
  LOCK:
    atom.global.cas.b32 %r3, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra LOCK;
    ld.volatile.global.u32 %r4, [%rd1+4];
    add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%rd1+4], %r4;
    membar.gl;
    atom.global.exch.b32 %r3, [%rd1], 0;
    ret;
  )");
  SmallGpu gpu;
  gpu.launch(text, {4}, {96});
  EXPECT_EQ(gpu.word(0), 0u);
  EXPECT_EQ(gpu.word(1), 4u * 96);
}

TEST(Progress, AWarpWaitsForAnotherByAFlag) {
  // Thread 0 waits for the flag of thread 63, and lanes of its warp wait at a barrier behind.
  const std::string text = kernel(std::string(R"(
    mov.u32 %r2, 0;
    setp.eq.u32 %p1, %r1, 63;
    @%p1 bra PRODUCER;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra END;
  WAIT:
    ld.volatile.global.u32 %r2, [%rd1+2000];
    setp.eq.u32 %p3, %r2, 0;
    @%p3 bra WAIT;
    bra END;
  PRODUCER:
    mov.u32 %r3, 77;
    st.volatile.global.u32 [%rd1+2000], %r3;
  END:
    bar.sync 0;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {64});
  EXPECT_EQ(gpu.word(0), 77u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

/// Block i waits for the sum that block i - 1 stores, adds i to it and stores the new sum. If
/// `reversed`, i counts from the last block of the grid, so the first block waits for all others.
std::string look_back(bool reversed) {
  return kernel(std::string(R"(
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %nctaid.x;
  )") + (reversed ? "sub.u32 %r5, %r4, %r3;\nsub.u32 %r5, %r5, 1;\n" : "mov.u32 %r5, %r3;\n") +
                R"(
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r6, 1;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra STORE;
  WAIT:
    ld.acquire.gpu.global.u32 %r6, [%rd3+-4];
    setp.eq.u32 %p2, %r6, 0;
    @%p2 bra WAIT;
  STORE:
    add.u32 %r6, %r6, %r5;
    st.release.gpu.global.u32 [%rd3], %r6;
    ret;
  )");
}

TEST(Progress, BlocksWaitForEarlierAndForLaterOnes) {
  for (const bool reversed : {false, true}) {
    for (const unsigned threads : {1u, 2u, 5u}) {
      SmallGpu gpu;
      gpu.settings.threads = threads;
      gpu.launch(look_back(reversed), {200}, {1});
      for (unsigned i = 0; i < 200; ++i) ASSERT_EQ(gpu.word(i), 1 + i * (i + 1) / 2) << reversed;
    }
  }
}

/// All blocks add to word 0, then wait until it counts them all, with a load or an atomic.
std::string grid_barrier(const std::string& poll) {
  return kernel(std::string(R"(
    mov.u32 %r3, %nctaid.x;
    mov.u32 %r4, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra JOIN;
    atom.global.add.u32 %r5, [%rd1], 1;
  WAIT:
  )") + poll + R"(
    setp.lt.u32 %p2, %r6, %r3;
    @%p2 bra WAIT;
  JOIN:
    bar.sync 0;
    add.u32 %r7, %r4, 1;
    mul.wide.u32 %rd2, %r7, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
  )");
}

TEST(Progress, ManyBlocksMeetAtAGridBarrier) {
  for (const char* poll :
       {"ld.volatile.global.u32 %r6, [%rd1];", "atom.global.add.u32 %r6, [%rd1], 0;"}) {
    for (const unsigned threads : {1u, 2u, 5u}) {
      SmallGpu gpu;
      gpu.settings.threads = threads;
      gpu.launch(grid_barrier(poll), {100}, {1}, /*cooperative=*/true);
      for (unsigned i = 1; i <= 100; ++i) ASSERT_EQ(gpu.word(i), 100u);
    }
  }
}

TEST(Progress, ABarrierOfMoreBlocksThanTheGpuHoldsIsADeadlock) {
  SmallGpu gpu;
  gpu.multiprocessors = 1;
  EXPECT_THROW(gpu.launch(grid_barrier("ld.volatile.global.u32 %r6, [%rd1];"), {33}, {32}),
               KernelAborted);
  const auto findings = gpu.found(FindingKind::deadlock);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("none of them writes"), std::string::npos);
}

TEST(Progress, AnEagerKernelThatWaitsForTheHostIsADeadlockWithAHint) {
  const std::string text = kernel(R"(
    ld.global.u64 %rd2, [%rd1];
  WAIT:
    ld.volatile.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra WAIT;
    ret;
  )");
  for (const bool lazy : {false, true}) {
    SmallGpu gpu;
    gpu.settings.lazy_streams = lazy;
    const Allocation* flag = gpu.memory.allocate(MemoryKind::pinned, 0, 4, 256, "the test");
    std::memset(flag->host, 0, 4);
    std::memcpy(&gpu.word(0), &flag->begin, sizeof flag->begin);
    EXPECT_THROW(gpu.launch(text, {1}, {1}), KernelAborted);
    const auto findings = gpu.found(FindingKind::deadlock);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].message.find("--streams lazy") == std::string::npos, lazy);
  }
}

/// Thread 0 makes an mbarrier for two arrivals, arrives, expects 64 bytes and copies 32.
const std::string kMbarrierThatWaits = R"(
    .shared .align 16 .b8 tile[64];
    .shared .align 8 .b64 bar;
    mov.u32 %r2, bar;
    mov.u32 %r3, tile;
    setp.eq.u32 %p1, %r1, 0;
    @!%p1 bra MADE;
    mbarrier.init.shared.b64 [%r2], 2;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 64;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 32, [%r2];
  MADE:
    bar.sync 0;
)";

TEST(Progress, ADeadlockAtAnMbarrierNamesWhatIsMissing) {
  const std::string text = kernel(kMbarrierThatWaits + R"(
  WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    ret;
  )");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {64}), KernelAborted);
  const auto findings = gpu.found(FindingKind::deadlock);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("of parity 0 of the mbarrier at byte 64 of shared memory, "
                                     "which lacks 1 of 2 arrivals and 32 of 64 expected bytes"),
            std::string::npos)
      << findings[0].message;
}

TEST(Progress, AWarpThatComputesIsNoDeadlock) {
  // The second warp polls meanwhile; nothing in memory changes.
  const std::string text = kernel(kMbarrierThatWaits + R"(
    setp.ge.u32 %p3, %r1, 32;
    @%p3 bra WAIT;
    mov.u32 %r5, 0;
  COMPUTE:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 500000;
    @%p3 bra COMPUTE;
    @%p1 mbarrier.arrive.shared.b64 _, [%r2];
    @%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 32;
  WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    ret;
  )");
  SmallGpu gpu;
  gpu.launch(text, {1}, {64});
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(Progress, CountersDoNotDependOnTheNumberOfThreads) {
  const std::string text = kernel(R"(
    mov.u32 %r3, %ctaid.x;
    and.b32 %r4, %r3, 7;
    mov.u32 %r5, 0;
  LOOP:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 500;
    @%p1 bra LOOP;
    mad.lo.u32 %r6, %r3, 64, %r1;
    mul.wide.u32 %rd2, %r6, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
  )");
  std::uint64_t lanes = 0;
  for (const unsigned threads : {1u, 2u, 5u}) {
    SmallGpu gpu(64 * 300);
    gpu.settings.threads = threads;
    const LaunchCounters counters = gpu.launch(text, {300}, {64});
    for (unsigned i = 0; i < 64 * 300; ++i) ASSERT_EQ(gpu.word(i), i);
    EXPECT_EQ(counters.blocks, 300u);
    EXPECT_EQ(counters.warps, 600u);
    if (lanes == 0) lanes = counters.total().active_lanes;
    EXPECT_EQ(counters.total().active_lanes, lanes);
  }
  // The guard of the last branch is false.
  EXPECT_EQ(lanes, 300u * 64 * (5 + 1500 - 1 + 5));
}

TEST(Progress, TheLowestBlockThatFailsEndsTheLaunch) {
  const std::string text = kernel(R"(
    mov.u32 %r3, %ctaid.x;
    setp.lt.u32 %p1, %r3, 37;
    @%p1 bra END;
    mul.wide.u32 %rd2, %r3, 0x10000000;
    st.global.u32 [%rd2+1], %r3;
  END:
    ret;
  )");
  for (const unsigned threads : {1u, 2u, 5u}) {
    SmallGpu gpu;
    gpu.settings.threads = threads;
    EXPECT_THROW(gpu.launch(text, {100}, {32}), KernelAborted);
    ASSERT_FALSE(gpu.findings.all().empty());
    EXPECT_EQ(gpu.findings.all()[0].block, "(37,0,0)");
  }
}

}  // namespace
}  // namespace halfgrad::emulator
