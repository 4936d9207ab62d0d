#include <gtest/gtest.h>

#include "clusters.h"

namespace halfgrad::emulator {
namespace {

TEST_F(Clusters, NumberTheirBlocks) {
  gpu.cluster = {2, 2, 1};
  const std::string body = R"(
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ctaid.y;
    mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r1, %r3, %r4, %r2;
    mov.u32 %r5, %cluster_ctarank;
    mov.u32 %r6, %cluster_ctaid.x;
    mov.u32 %r7, %cluster_ctaid.y;
    mov.u32 %r8, %clusterid.x;
    mov.u32 %r9, %clusterid.y;
    mov.u32 %r10, %nclusterid.x;
    mov.u32 %r11, %cluster_nctarank;
    mad.lo.u32 %r2, %r5, 10, %r6;
    mad.lo.u32 %r2, %r2, 10, %r7;
    mad.lo.u32 %r2, %r2, 10, %r8;
    mad.lo.u32 %r2, %r2, 10, %r9;
    mad.lo.u32 %r2, %r2, 10, %r10;
    mad.lo.u32 %r2, %r2, 10, %r11;
    mov.pred %p1, %is_explicit_cluster;
    @%p1 add.u32 %r2, %r2, 10000000;
  )";
  gpu.launch(kernel(body + kStoreResult), {4, 4}, {1});
  for (unsigned y = 0; y < 4; ++y) {
    for (unsigned x = 0; x < 4; ++x) {
      const unsigned rank = y % 2 * 2 + x % 2;
      const unsigned digits[] = {rank, x % 2, y % 2, x / 2, y / 2, 2, 4};
      unsigned expected = 0;
      for (const unsigned digit : digits) expected = expected * 10 + digit;
      EXPECT_EQ(gpu.word(y * 4 + x), expected + 10000000) << x << " " << y;
    }
  }
}

TEST_F(Clusters, ReadTheSharedMemoryOfOtherBlocks) {
  const std::string body = std::string(kOwnWord) + kNeighbour +
                           "add.u32 %r13, %r7, 500;\nst.shared.u32 [%r10], %r13;\n" + kSync +
                           "ld.shared::cluster.u32 %r14, [%r12];\nst.global.u32 [%rd3], %r14;\n" +
                           kSync;
  run(body, {8}, {32});
  for (unsigned block = 0; block < 8; ++block) {
    const unsigned next = block / 4 * 4 + (block + 1) % 4;
    for (unsigned i = 0; i < 32; ++i) {
      ASSERT_EQ(gpu.word(block * 32 + i), 500 + next * 32 + i) << block << " " << i;
    }
  }
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(Clusters, ReadByGenericAddresses) {
  const std::string body = std::string(kOwnWord) + kNeighbour + R"(
    st.shared.u32 [%r10], %r7;
    cvt.u64.u32 %rd4, %r10;
    cvta.shared.u64 %rd5, %rd4;
    mapa.u64 %rd6, %rd5, %r11;
    getctarank.u32.u64 %r15, %rd6;
  )" + kSync +
                           "ld.u32 %r14, [%rd6];\nmad.lo.u32 %r14, %r15, 1000, %r14;\n"
                           "st.global.u32 [%rd3], %r14;\n" +
                           kSync;
  run(body, {4}, {32});
  for (unsigned block = 0; block < 4; ++block) {
    const unsigned next = (block + 1) % 4;
    ASSERT_EQ(gpu.word(block * 32 + 5), next * 1000 + next * 32 + 5);
  }
  EXPECT_TRUE(gpu.findings.all().empty());
}

TEST_F(Clusters, RaceWithoutABarrier) {
  const std::string store = "st.shared.u32 [%r10], %r7;\n";
  const std::string load = "ld.shared::cluster.u32 %r14, [%r12];\nst.global.u32 [%rd3], %r14;\n";
  run(kOwnWord + std::string(kNeighbour) + kSync + store + load + kSync, {4}, {32});
  EXPECT_FALSE(gpu.found(FindingKind::race).empty());
}

TEST_F(Clusters, RaceIfTheirArrivalsAreRelaxed) {
  const std::string body = std::string(kOwnWord) + kNeighbour + kSync +
                           "st.shared.u32 [%r10], %r7;\n"
                           "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
                           "ld.shared::cluster.u32 %r14, [%r12];\nst.global.u32 [%rd3], %r14;\n" +
                           kSync;
  run(body, {4}, {32});
  EXPECT_FALSE(gpu.found(FindingKind::race).empty());
}

TEST_F(Clusters, RaceAfterABarrierOfTheBlockAlone) {
  // A reader in another block is not ordered by bar.sync of the owner.
  const std::string body = std::string(kOwnWord) + kNeighbour + "st.shared.u32 [%r10], %r7;\n" +
                           kSync +
                           "ld.shared::cluster.u32 %r14, [%r12];\nbar.sync 0;\n"
                           "st.shared.u32 [%r10], %r14;\n" +
                           kSync;
  run(body, {4}, {64});
  EXPECT_FALSE(gpu.found(FindingKind::race).empty());
}

TEST_F(Clusters, AddAtomicallyInOneBlock) {
  const std::string body = std::string(kOwnWord) + R"(
    mov.u32 %r8, mine;
    mov.u32 %r9, 0;
    mapa.shared::cluster.u32 %r12, %r8, %r9;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [%r8], 0;
  )" + kSync + "atom.add.relaxed.cluster.shared::cluster.u32 %r14, [%r12], 1;\n" +
                           kSync + "ld.shared.u32 %r14, [%r8];\nst.global.u32 [%rd3], %r14;\n";
  run(body, {8}, {64});
  EXPECT_EQ(gpu.word(0), 256u);
  EXPECT_EQ(gpu.word(64), 0u);
  EXPECT_EQ(gpu.word(4 * 64), 256u);
  EXPECT_TRUE(gpu.findings.all().empty());
}

/// Blocks 1, 2 and 3 may exit before block 3 reads the memory of block 0.
TEST_F(Clusters, MayNotReadABlockThatExits) {
  const std::string body =
      std::string(kOwnWord) + kNeighbour + "st.shared.u32 [%r10], %r7;\n" + kSync + R"(
    setp.ne.u32 %p1, %r5, 3;
    @%p1 ret;
    ld.shared::cluster.u32 %r14, [%r12];
    st.global.u32 [%rd3], %r14;
  )";
  run(body, {4}, {32});
  const auto found = gpu.found(FindingKind::barrier);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("block 0 of the cluster, which may have exited"),
            std::string::npos);
  EXPECT_EQ(found[0].block, "(3,0,0)");
}

TEST_F(Clusters, EndWhereABlockHasExited) {
  // Block 3 reads late, after block 0 has exited.
  const std::string body = std::string(kOwnWord) + kNeighbour + kSync + R"(
    setp.ne.u32 %p1, %r5, 3;
    @%p1 ret;
    mov.u32 %r14, 0;
  LOOP:
    add.u32 %r14, %r14, 1;
    setp.lt.u32 %p1, %r14, 100000;
    @%p1 bra LOOP;
    ld.shared::cluster.u32 %r14, [%r12];
  )";
  EXPECT_THROW(run(body, {4}, {32}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::use_after_free).size(), 1u);
}

TEST_F(Clusters, MayNotReadABlockBeforeItStarts) {
  run(std::string(kOwnWord) + kNeighbour + "st.shared::cluster.u32 [%r12], %r7;\n" + kSync, {4},
      {32});
  const auto found = gpu.found(FindingKind::barrier);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("which may not have started"), std::string::npos);
}

TEST_F(Clusters, EndWhereThreadsNeverArrive) {
  const std::string body = std::string(kOwnWord) + R"(
    setp.eq.u32 %p1, %r5, 2;
    @%p1 bar.sync 1, 64;
  )" + kSync;
  EXPECT_THROW(run(body, {4}, {32}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::barrier).size(), 1u);
}

TEST_F(Clusters, WaitOnlyAfterTheyArrived) {
  EXPECT_THROW(run("barrier.cluster.wait;", {4}, {32}), KernelAborted);
  EXPECT_THROW(run("barrier.cluster.arrive;\nbarrier.cluster.arrive;", {4}, {32}), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::barrier).size(), 2u);
}

TEST_F(Clusters, LetThreadsExitInsteadOfArriving) {
  const std::string body = std::string(kOwnWord) + "setp.eq.u32 %p1, %r5, 2;\n@%p1 ret;\n" + kSync +
                           "st.global.u32 [%rd3], 1;\n";
  run(body, {4}, {32});
  EXPECT_EQ(gpu.word(0), 1u);
  EXPECT_EQ(gpu.word(3 * 32), 1u);
}

TEST_F(Clusters, MapOnlyTheirOwnBlocks) {
  EXPECT_THROW(
      run("mov.u32 %r8, mine;\nmov.u32 %r9, 4;\nmapa.shared::cluster.u32 %r2, %r8, %r9;", {4}, {1}),
      KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::out_of_bounds).size(), 1u);
}

TEST_F(Clusters, KnowTheWindowsOfSharedMemory) {
  // Bit 0: in shared::cta, bit 1: in shared::cluster; of the own block, then of the next one.
  run(std::string(kOwnWord) + kNeighbour + R"(
    cvt.u64.u32 %rd4, %r10;
    cvta.shared.u64 %rd5, %rd4;
    mapa.u64 %rd6, %rd5, %r11;
    mov.u32 %r14, 0;
    isspacep.shared %p1, %rd5;
    @%p1 add.u32 %r14, %r14, 1;
    isspacep.shared::cluster %p1, %rd5;
    @%p1 add.u32 %r14, %r14, 2;
    isspacep.shared %p1, %rd6;
    @%p1 add.u32 %r14, %r14, 4;
    isspacep.shared::cluster %p1, %rd6;
    @%p1 add.u32 %r14, %r14, 8;
    isspacep.shared::cluster %p1, %rd1;
    @%p1 add.u32 %r14, %r14, 16;
    st.global.u32 [%rd3], %r14;)",
      {4}, {1});
  EXPECT_EQ(gpu.word(0), 11u);
}

}  // namespace
}  // namespace halfgrad::emulator
