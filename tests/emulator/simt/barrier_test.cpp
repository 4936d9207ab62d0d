#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// out[tid] = shared[127 - tid], which each thread wrote for itself before `barrier`.
std::string reversal(const std::string& barrier) {
  return kernel(std::string(R"(
    .shared .align 4 .b8 buffer[512];
    mov.u32 %r3, buffer;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r1;
  )") + barrier +
                R"(
    sub.u32 %r6, 508, %r4;
    add.u32 %r7, %r3, %r6;
    ld.shared.u32 %r2, [%r7];
  )" + kStoreResult);
}

TEST(Barrier, OrdersWarpsInEveryForm) {
  for (const char* barrier :
       {"bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 3;", "bar.sync 15, 128;",
        "mov.u32 %r8, 5;\nmov.u32 %r9, 128;\nbar.sync %r8, %r9;", "bar.cta.sync 1;"}) {
    SmallGpu gpu;
    gpu.launch(reversal(barrier), {1}, {128});
    for (unsigned i = 0; i < 128; ++i) ASSERT_EQ(gpu.word(i), 127 - i) << barrier;
    EXPECT_TRUE(gpu.findings.all().empty()) << barrier;
  }
}

TEST(Barrier, ReducesPredicates) {
  // Bits: popc of tid < 70, and of tid < 70, and of true, or of tid < 70, or of false.
  const std::string text = kernel(std::string(R"(
    setp.lt.u32 %p1, %r1, 70;
    setp.lt.u32 %p2, %r1, 1000;
    bar.red.popc.u32 %r3, 0, %p1;
    bar.red.and.pred %p3, 0, %p1;
    bar.red.and.pred %p4, 0, %p2;
    barrier.red.or.pred %p5, 1, 96, %p1;
    bar.red.or.pred %p6, 1, !%p2;
    bar.red.popc.u32 %r4, 0, !%p1;
    selp.u32 %r5, 1000, 0, %p3;
    selp.u32 %r6, 2000, 0, %p4;
    selp.u32 %r7, 4000, 0, %p5;
    selp.u32 %r8, 8000, 0, %p6;
    add.u32 %r2, %r3, %r5;
    add.u32 %r2, %r2, %r6;
    add.u32 %r2, %r2, %r7;
    add.u32 %r2, %r2, %r8;
    mad.lo.u32 %r2, %r4, 100000, %r2;
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {96});
  for (unsigned i = 0; i < 96; ++i) ASSERT_EQ(gpu.word(i), 2600000u + 70 + 2000 + 4000);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(Barrier, NamedBarriersConnectProducersAndConsumers) {
  // Warp 0 fills word i and arrives at 1; warp 1 waits there, reads, and arrives at 2 for the next.
  const std::string text = kernel(R"(
    .shared .align 4 .b8 slot[128];
    mov.u32 %r3, slot;
    and.b32 %r4, %r1, 31;
    shl.b32 %r5, %r4, 2;
    add.u32 %r3, %r3, %r5;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra CONSUMER;
  PRODUCER:
    bar.sync 2, 64;
    add.u32 %r8, %r6, %r4;
    st.shared.u32 [%r3], %r8;
    bar.arrive 1, 64;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 10;
    @%p2 bra PRODUCER;
    ret;
  CONSUMER:
    bar.arrive 2, 64;
    bar.sync 1, 64;
    ld.shared.u32 %r9, [%r3];
    add.u32 %r7, %r7, %r9;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 10;
    @%p2 bra CONSUMER;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
    ret;
  )");
  SmallGpu gpu;
  gpu.launch(text, {1}, {64});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(gpu.word(i), 45 + 10 * i);
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(Barrier, ThreadsThatReturnEarlyAreNotWaitedFor) {
  const std::string text = kernel(std::string(R"(
    setp.ge.u32 %p1, %r1, 40;
    @%p1 bra END;
    bar.sync 0;
    mov.u32 %r2, 1;
    mul.wide.u32 %rd14, %r1, 4;
    add.s64 %rd15, %rd1, %rd14;
    st.global.u32 [%rd15], %r2;
    bar.sync 0;
  END:
    ret;
  )"));
  SmallGpu gpu;
  gpu.launch(text, {1}, {128});
  EXPECT_EQ(gpu.word(39), 1u);
  EXPECT_EQ(gpu.word(40), 0u);
  EXPECT_FALSE(gpu.findings.has_errors());
  ASSERT_EQ(gpu.findings.all().size(), 2u) << "a note for each barrier";
  EXPECT_NE(gpu.findings.all()[0].message.find("88 threads returned"), std::string::npos);
}

TEST(Barrier, ThreadsThatPassABarrierByAreFound) {
  // if (tid < 64) __syncthreads();  out[tid] = 1
  const std::string text = kernel(std::string(R"(
    mov.u32 %r2, 1;
    setp.ge.u32 %p1, %r1, 64;
    @%p1 bra NEXT;
    bar.sync 0;
  NEXT:
  )") + kStoreResult);
  SmallGpu gpu;
  gpu.launch(text, {1}, {128});
  const auto findings = gpu.found(FindingKind::barrier);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].instruction.find("bar.sync 0"), std::string::npos);
  EXPECT_EQ(findings[0].thread, "(0,0,0)");
}

TEST(Barrier, DifferentBarriersAreFound) {
  const std::string text = kernel(R"(
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    bar.sync 1;
    ret;
  OTHER:
    bar.sync 2;
    ret;
  )");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {64}), KernelAborted);
  const auto findings = gpu.found(FindingKind::barrier);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("different barriers"), std::string::npos);
  EXPECT_NE(findings[0].message.find("warp 0"), std::string::npos);
  EXPECT_NE(findings[0].message.find("warp 1"), std::string::npos);
}

TEST(Barrier, ACountThatIsNeverReachedIsFound) {
  const std::string text = kernel("bar.sync 1, 96;\nret;\n");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {64}), KernelAborted);
  ASSERT_EQ(gpu.found(FindingKind::barrier).size(), 1u);
}

TEST(Barrier, ACountMustBeAMultipleOfTheWarpSize) {
  SmallGpu gpu;
  gpu.launch(kernel("bar.sync 1, 40;\nret;"), {1}, {64});
  const auto findings = gpu.found(FindingKind::barrier);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("multiple of the warp size"), std::string::npos);
}

TEST(Barrier, DifferentCountsAreFound) {
  const std::string text = kernel(R"(
    setp.ge.u32 %p1, %r1, 32;
    selp.u32 %r3, 64, 96, %p1;
    bar.sync 1, %r3;
    ret;
  )");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {64}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::barrier).size(), 2u - 1u);
}

TEST(Barrier, ADivergedWarpAtAnAlignedBarrierIsFound) {
  const std::string text = kernel(R"(
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra OTHER;
    bar.sync 0;
    ret;
  OTHER:
    bar.sync 0;
    ret;
  )");
  SmallGpu gpu;
  gpu.launch(text, {1}, {64});
  ASSERT_EQ(gpu.found(FindingKind::barrier).size(), 1u);
}

TEST(Barrier, ADivergedWarpMayUseTheUnalignedForm) {
  const std::string text = kernel(R"(
    setp.ge.u32 %p1, %r1, 16;
    @%p1 bra OTHER;
    barrier.sync 0;
    ret;
  OTHER:
    barrier.sync 0;
    ret;
  )");
  SmallGpu gpu;
  gpu.launch(text, {1}, {64});
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST(Barrier, ANumberAbove15Aborts) {
  const std::string text = kernel("mov.u32 %r3, 16;\nbar.sync %r3;\nret;\n");
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(text, {1}, {64}), KernelAborted);
}

}  // namespace
}  // namespace halfgrad::emulator
