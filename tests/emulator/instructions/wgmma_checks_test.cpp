// Mistakes with wgmma that the checks find.
#include <algorithm>

#include "wgmma_run.h"

namespace halfgrad::emulator {
namespace {

/// The findings of a kernel whose body is made from the product's statement.
template <class F>
std::vector<Finding> findings_of(F body, unsigned threads = kWgmmaThreads) {
  const WgmmaOperands operands(kWgmmaHalfForm);
  WgmmaRun run(kWgmmaHalfForm);
  run.gpu().settings.check_race = run.gpu().settings.check_init = true;
  run.put(operands.a, operands.b, operands.d);
  try {
    run.run(body(run.statement(run.rest("1"))), threads);
  } catch (const KernelAborted&) {
  }
  return run.gpu().findings.all();
}

/// How many findings contain the text.
long number_of(const std::vector<Finding>& findings, const std::string& text) {
  return std::count_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.message.find(text) != std::string::npos;
  });
}

/// Thread 127 stores to B, which every warp reads.
const std::string kStoreToB = "setp.eq.u32 %p2, %r1, 127;\n@%p2 st.shared.u32 [tile+" +
                              std::to_string(kWgmmaBeginOfB) + "], %r1;\n";

TEST(WgmmaChecks, AreSilentAboutAStoreThatTheWaitPrecedes) {
  const auto found = findings_of([](const std::string& product) {
    return kWgmmaFence + product + kWgmmaCommit + kWgmmaWait + "bar.sync 0;\n" + kStoreToB;
  });
  EXPECT_TRUE(found.empty()) << to_string(found.front());
}

TEST(WgmmaChecks, FindAStoreThatMeetsAProductUnderWay) {
  const auto found = findings_of([](const std::string& product) {
    return kWgmmaFence + product + kWgmmaCommit + "bar.sync 0;\n" + kStoreToB + kWgmmaWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::race);
  EXPECT_NE(found.front().instruction.find("st.shared"), std::string::npos);
}

TEST(WgmmaChecks, FindAStoreThatNoBarrierOrders) {
  const auto found = findings_of([](const std::string& product) {
    return kStoreToB + kWgmmaFence + product + kWgmmaCommit + kWgmmaWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::race);
}

// fence.proxy.async may come from the thread that stores, or from the readers after a barrier.
TEST(WgmmaChecks, FindAStoreWithoutAFenceOfTheAsynchronousProxy) {
  const std::string barrier = "bar.sync 0;\n", fence = "fence.proxy.async;\n";
  const auto found_after = [](const std::string& order) {
    return findings_of([&](const std::string& product) {
      return kStoreToB + order + kWgmmaFence + product + kWgmmaCommit + kWgmmaWait;
    });
  };
  EXPECT_TRUE(found_after(fence + barrier).empty());
  EXPECT_TRUE(found_after(barrier + fence).empty());
  EXPECT_TRUE(found_after("fence.proxy.async.shared::cta;\n" + barrier).empty());
  const auto found = found_after(barrier);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::race);
  EXPECT_NE(found.front().message.find("fence.proxy.async"), std::string::npos);
  EXPECT_NE(found.front().other.find("a store by thread (127,0,0)"), std::string::npos);
}

TEST(WgmmaChecks, FindAMissingFence) {
  const auto found =
      findings_of([](const std::string& product) { return product + kWgmmaCommit + kWgmmaWait; });
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("without wgmma.fence"), std::string::npos);
}

TEST(WgmmaChecks, FindAProductThatNothingWaitsFor) {
  for (const std::string& end :
       {std::string(), kWgmmaCommit, kWgmmaCommit + "wgmma.wait_group.sync.aligned 1;\n"}) {
    const auto found =
        findings_of([&](const std::string& product) { return kWgmmaFence + product + end; });
    EXPECT_EQ(number_of(found, "the warp exits while this product may be under way"), 1) << end;
    EXPECT_GT(number_of(found, "reads a register that a product under way writes"), 0) << end;
  }
}

TEST(WgmmaChecks, FindARegisterThatIsReadBeforeTheWait) {
  // A move passes the state on, and a write ends it.
  const std::string read = "add.u32 %r9, %r8, 1;\n", move = "mov.b32 %r8, %d0;\n";
  const auto found_in = [](const std::string& before, const std::string& after) {
    return findings_of([&](const std::string& product) {
      return kWgmmaFence + product + kWgmmaCommit + before + kWgmmaWait + after;
    });
  };
  EXPECT_TRUE(found_in("", move + read).empty());
  EXPECT_TRUE(found_in(move, "").empty());
  EXPECT_TRUE(found_in(move + "mov.u32 %r8, 1;\n" + read, "").empty());
  const auto found = found_in(move + read, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().kind, FindingKind::async_copy);
  EXPECT_NE(found.front().instruction.find("add.u32"), std::string::npos);
  EXPECT_NE(found.front().other.find("a product at"), std::string::npos);
}

TEST(WgmmaChecks, FindABlockThatIsNoMultipleOfAWarpgroup) {
  const auto found = findings_of(
      [](const std::string& product) { return kWgmmaFence + product + kWgmmaCommit + kWgmmaWait; },
      96);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("a warpgroup of 4 warps"), std::string::npos);
}

TEST(WgmmaChecks, FindAWarpOfTheGroupThatMissesAProduct) {
  const auto found = findings_of([](const std::string& product) {
    return kWgmmaFence + product + kWgmmaCommit + kWgmmaWait +
           "setp.lt.u32 %p3, %r1, 96;\n@!%p3 bra SKIP;\n" + product + kWgmmaCommit + kWgmmaWait +
           "SKIP:\n";
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().kind, FindingKind::warp_sync);
  EXPECT_NE(found.front().message.find("warps of its warpgroup"), std::string::npos);
}

TEST(WgmmaChecks, FindDescriptorsThatDifferAmongLanes) {
  const auto found = findings_of([](const std::string& product) {
    return "setp.eq.u32 %p3, %r1, 3;\n@%p3 add.s64 %rd5, %rd5, 2;\n" + kWgmmaFence + product +
           kWgmmaCommit + kWgmmaWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found.front().message.find("descriptor differs"), std::string::npos);
}

TEST(WgmmaChecks, FindAMatrixBeyondSharedMemory) {
  const auto found = findings_of([](const std::string& product) {
    return "add.s64 %rd5, %rd5, 2048;\n" + kWgmmaFence + product + kWgmmaCommit + kWgmmaWait;
  });
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, FindingKind::out_of_bounds);
}

}  // namespace
}  // namespace halfgrad::emulator
