#include <gtest/gtest.h>

#include <string>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// Shared bytes hold 0xA5 until something lands. %r5 is the thread's 4 bytes in `tile`, %rd2 its
/// word.
const std::string kBegin =
    ".shared .align 128 .b8 tile[1024];\nmov.u32 %r4, tile;\nshl.b32 %r5, %r1, 2;\n"
    "add.u32 %r5, %r5, %r4;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n";
constexpr std::uint32_t kFresh = 0xa5a5a5a5;

/// Values of %r2 in 32 threads after they run `body`. Word i of the buffer holds 1000 + i.
std::vector<std::uint32_t> results(const std::string& body) {
  SmallGpu gpu;
  for (unsigned i = 0; i < 512; ++i) gpu.word(i) = 1000 + i;
  gpu.launch(kernel(kBegin + body +
                    "mul.wide.u32 %rd14, %r1, 4;\nadd.s64 %rd15, %rd1, %rd14;\n"
                    "st.global.u32 [%rd15+2048], %r2;\nret;"),
             {}, {32});
  std::vector<std::uint32_t> values;
  for (unsigned i = 0; i < 32; ++i) values.push_back(gpu.word(512 + i));
  return values;
}

TEST(AsyncCopy, DoesNotLandBeforeTheWait) {
  const std::string copy = "cp.async.ca.shared.global [%r5], [%rd2], 4;\ncp.async.commit_group;\n";
  const std::string load = "ld.shared.u32 %r2, [%r5];\n";
  EXPECT_EQ(results(copy + load)[5], kFresh);
  EXPECT_EQ(results(copy + "cp.async.wait_group 1;\n" + load)[5], kFresh);
  EXPECT_EQ(results(copy + "cp.async.wait_group 0;\n" + load)[5], 1005u);
  EXPECT_EQ(results(copy + "cp.async.wait_all;\n" + load)[5], 1005u);
}

TEST(AsyncCopy, WaitGroupLeavesTheYoungestUnderWay) {
  const std::string copies =
      "cp.async.ca.shared.global [%r5], [%rd2], 4;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [%r5+256], [%rd2+256], 4;\ncp.async.commit_group;\n"
      "cp.async.wait_group 1;\n";
  EXPECT_EQ(results(copies + "ld.shared.u32 %r2, [%r5];\n")[3], 1003u);
  EXPECT_EQ(results(copies + "ld.shared.u32 %r2, [%r5+256];\n")[3], kFresh);
}

TEST(AsyncCopy, UncommittedCopiesAreNoGroup) {
  const std::string copy = "cp.async.ca.shared.global [%r5], [%rd2], 4;\n";
  EXPECT_EQ(results(copy + "cp.async.wait_group 0;\nld.shared.u32 %r2, [%r5];\n")[0], kFresh);
  EXPECT_EQ(results(copy + "cp.async.wait_all;\nld.shared.u32 %r2, [%r5];\n")[0], 1000u);
}

TEST(AsyncCopy, ReadsWhenItIsIssued) {
  EXPECT_EQ(results("cp.async.ca.shared.global [%r5], [%rd2], 4;\nst.global.u32 [%rd2], 7;\n"
                    "cp.async.wait_all;\nld.shared.u32 %r2, [%r5];\n")[9],
            1009u);
}

TEST(AsyncCopy, FillsWithZerosWhatItDoesNotRead) {
  const std::string wide =
      "shl.b32 %r6, %r1, 4;\nadd.u32 %r6, %r6, %r4;\nmul.wide.u32 %rd3, %r1, 16;\n"
      "add.s64 %rd3, %rd1, %rd3;\n";
  const std::string wait = "cp.async.wait_all;\n";
  const std::string copy = "cp.async.cg.shared.global [%r6], [%rd3], 16, %r7;\n" + wait;
  EXPECT_EQ(results(wide + "mov.u32 %r7, 8;\n" + copy + "ld.shared.u32 %r2, [%r6+4];\n")[2], 1009u);
  EXPECT_EQ(results(wide + "mov.u32 %r7, 8;\n" + copy + "ld.shared.u32 %r2, [%r6+8];\n")[2], 0u);
  EXPECT_EQ(results(wide + "mov.u32 %r7, 0;\nmov.u64 %rd3, 0;\n" + copy +
                    "ld.shared.u32 %r2, [%r6];\n")[2],
            0u);
  EXPECT_EQ(results(wide +
                    "setp.ge.u32 %p1, %r1, 4;\n"
                    "cp.async.cg.shared.global.L2::128B [%r6], [%rd3], 16, %p1;\n" +
                    wait + "ld.shared.u32 %r2, [%r6];\n")[3],
            1012u);
  EXPECT_EQ(results(wide +
                    "setp.ge.u32 %p1, %r1, 4;\n"
                    "cp.async.cg.shared.global [%r6], [%rd3], 16, %p1;\n" +
                    wait + "ld.shared.u32 %r2, [%r6];\n")[4],
            0u);
}

TEST(AsyncCopy, IsChecked) {
  SmallGpu gpu;
  EXPECT_THROW(
      gpu.launch(kernel(kBegin + "cp.async.cg.shared.global [%r5], [%rd2], 16;\nret;"), {}, {32}),
      KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::misaligned).size(), 1u);
  SmallGpu other;
  EXPECT_THROW(
      other.launch(kernel(kBegin + "cp.async.ca.shared.global [%r5], [%rd2+4096], 4;\nret;"), {},
                   {32}),
      KernelAborted);
  EXPECT_EQ(other.found(FindingKind::out_of_bounds).size(), 1u);
}

// ---- mbarrier

const std::string kBarrier =
    ".shared .align 8 .b64 bar;\n.reg .b64 %state;\nsetp.eq.u32 %p1, %r1, 0;\n";

TEST(Mbarrier, APhaseCompletesWithItsLastArrival) {
  // 64 threads arrive; each then waits for phase 0, and reads what thread 63 - i wrote before.
  SmallGpu gpu;
  gpu.launch(kernel(kBegin + kBarrier +
                    "@%p1 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n"
                    "st.shared.u32 [%r5], %r1;\nmbarrier.arrive.shared.b64 %state, [bar];\n"
                    "wait:\nmbarrier.test_wait.shared.b64 %p2, [bar], %state;\n@!%p2 bra wait;\n"
                    "sub.u32 %r6, 63, %r1;\nshl.b32 %r6, %r6, 2;\nadd.u32 %r6, %r6, %r4;\n"
                    "ld.shared.u32 %r2, [%r6];\n" +
                    kStoreResult),
             {}, {64});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(gpu.word(i), 63 - i);
}

/// %r2 of thread 0, alone.
std::uint32_t alone(const std::string& body) {
  SmallGpu gpu;
  for (unsigned i = 1; i < 1024; ++i) gpu.word(i) = 1000 + i;
  gpu.launch(kernel(kBegin + kBarrier + body + kStoreResult), {}, {1});
  return gpu.word(0);
}
const std::string kParities =
    "mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0;\nselp.u32 %r2, 1, 0, %p2;\n"
    "mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1, 1000;\n@%p2 add.u32 %r2, %r2, 2;\n";

TEST(Mbarrier, ParitiesSayWhichPhaseIsComplete) {
  const std::string begin = "mbarrier.init.shared::cta.b64 [bar], 2;\n";
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  EXPECT_EQ(alone(begin + kParities), 2u);
  EXPECT_EQ(alone(begin + arrive + kParities), 2u);
  EXPECT_EQ(alone(begin + arrive + arrive + kParities), 1u);
  EXPECT_EQ(alone(begin + "mbarrier.arrive.release.cta.shared::cta.b64 _, [bar], 2;\n" + kParities),
            1u);
  EXPECT_EQ(alone(begin + arrive + arrive + arrive + arrive + kParities), 2u);
}

TEST(Mbarrier, PendingCountsAndDrops) {
  const std::string begin = "mbarrier.init.shared.b64 [bar], 3;\n";
  EXPECT_EQ(alone(begin + "mbarrier.arrive.shared.b64 %state, [bar];\n"
                          "mbarrier.arrive.noComplete.shared.b64 %state, [bar], 1;\n"
                          "mbarrier.pending_count.b64 %r2, %state;\n"),
            2u);
  // A dropped thread no longer counts: the second phase needs two arrivals.
  EXPECT_EQ(alone(begin +
                  "mbarrier.arrive_drop.shared.b64 _, [bar];\n"
                  "mbarrier.arrive.shared.b64 _, [bar], 2;\n"
                  "mbarrier.arrive.shared.b64 _, [bar], 2;\n" +
                  kParities),
            2u);
}

TEST(Mbarrier, TooManyArrivalsAreFound) {
  SmallGpu gpu;
  EXPECT_THROW(gpu.launch(kernel(kBarrier + "mbarrier.init.shared.b64 [bar], 1;\n"
                                            "mbarrier.arrive.shared.b64 _, [bar], 2;\nret;"),
                          {}, {1}),
               KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::barrier).size(), 1u);
}

TEST(Mbarrier, BytesCountAsWellAsArrivals) {
  const std::string begin =
      "mbarrier.init.shared.b64 [bar], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;\n";
  const std::string half = "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;\n";
  EXPECT_EQ(alone(begin + kParities), 2u);
  EXPECT_EQ(alone(begin + half + kParities), 2u);
  EXPECT_EQ(alone(begin + half + half + kParities), 1u);
}

TEST(Mbarrier, TracksCopiesOfAThread) {
  const std::string begin =
      "mbarrier.init.shared.b64 [bar], 1;\ncp.async.ca.shared.global [%r5], [%rd2+8], 4;\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
  const std::string load = "ld.shared.u32 %r2, [%r5];\n";
  EXPECT_EQ(alone(begin + load), kFresh);
  EXPECT_EQ(alone(begin + "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n" + load), 1002u);
  EXPECT_EQ(alone(begin + kParities), 1u);
  // Without .noinc, the thread's own arrival is needed, too.
  const std::string counted =
      "mbarrier.init.shared.b64 [bar], 1;\ncp.async.ca.shared.global [%r5], [%rd2+8], 4;\n"
      "cp.async.mbarrier.arrive.shared.b64 [bar];\n";
  EXPECT_EQ(alone(counted + kParities), 2u);
  EXPECT_EQ(alone(counted + "mbarrier.arrive.shared.b64 _, [bar];\n" + kParities), 1u);
}

// ---- Bulk copies

const std::string kBulk =
    "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;\nmov.u32 %r7, 512;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], %r7, "
    "[bar];\n";

TEST(BulkCopy, LandsWhenItsBarrierCompletes) {
  EXPECT_EQ(alone(kBulk + "ld.shared.u32 %r2, [%r4+500];\n"), kFresh);
  EXPECT_EQ(alone(kBulk + "mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n"
                          "ld.shared.u32 %r2, [%r4+500];\n"),
            1125u);
  EXPECT_EQ(alone(kBulk + kParities), 1u);
}

TEST(BulkCopy, WritesGlobalMemory) {
  SmallGpu gpu;
  gpu.launch(kernel(kBegin + "st.shared.u32 [%r5], %r1;\nbar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n"
                             "@%p1 bra done;\nfence.proxy.async.shared::cta;\n"
                             "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 256;\n"
                             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                             "done:\nret;"),
             {}, {64});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(gpu.word(i), i);
  EXPECT_EQ(gpu.word(64), 0u);
}

TEST(BulkCopy, IsChecked) {
  SmallGpu gpu;
  EXPECT_THROW(
      gpu.launch(kernel(kBegin + "cp.async.bulk.global.shared::cta.bulk_group [%rd1+4000], [%r4], "
                                 "112;\nret;"),
                 {}, {1}),
      KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::out_of_bounds).size(), 1u);
}

}  // namespace
}  // namespace halfgrad::emulator
