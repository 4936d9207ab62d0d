#include <gtest/gtest.h>

#include <string>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

void expect_no_effect(const std::string& statement) {
  SmallGpu gpu;
  gpu.word(0) = 7;
  EXPECT_NO_THROW(gpu.launch(
      kernel("ld.global.u32 %r2, [%rd1];\n" + statement + "\n" + kStoreResult), {}, {32}))
      << statement;
  EXPECT_EQ(gpu.word(0), 7u) << statement;
  EXPECT_EQ(gpu.word(31), 7u) << statement;
}

TEST(Fences, EveryFormRuns) {
  for (const char* form :
       {"membar.cta;", "membar.gl;", "membar.sys;", "fence.sc.gpu;", "fence.acq_rel.cta;",
        "fence.acq_rel.sys;", "fence.acquire.gpu;", "fence.release.gpu;", "fence.proxy.alias;",
        "fence.proxy.async;", "fence.proxy.async.global;", "fence.proxy.async.shared::cta;",
        "fence.mbarrier_init.release.cluster;"}) {
    expect_no_effect(form);
  }
}

TEST(CacheHints, ChangeNothing) {
  for (const char* form :
       {"prefetch.global.L1 [%rd1];", "prefetch.global.L2::evict_last [%rd1];",
        "prefetchu.L1 [%rd1];", "applypriority.global.L2::evict_normal [%rd1], 128;",
        "cp.async.bulk.prefetch.L2.global [%rd1], 512;",
        "createpolicy.fractional.L2::evict_last.b64 %rd5, 0f3F800000;\n"
        "ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd5;\n"
        "st.global.L2::cache_hint.u32 [%rd1+512], %r2, %rd5;"}) {
    expect_no_effect(form);
  }
}

TEST(CacheHints, AClusterOfOneBlockMapsAddressesToThemselves) {
  SmallGpu gpu;
  gpu.launch(kernel(".shared .align 4 .b32 cell;\nmov.u32 %r3, cell;\nst.shared.u32 [cell], 5;\n"
                    "mapa.shared::cluster.u32 %r4, %r3, 0;\nld.shared::cluster.u32 %r2, [%r4];\n"
                    "getctarank.shared::cluster.u32 %r5, %r4;\nadd.u32 %r2, %r2, %r5;\n" +
                    std::string(kStoreResult)),
             {}, {1});
  EXPECT_EQ(gpu.word(0), 5u);
  SmallGpu other;
  EXPECT_THROW(other.launch(kernel("mapa.shared::cluster.u32 %r4, %r1, 1;\nret;"), {}, {1}),
               KernelAborted);
}

TEST(CacheHints, UnknownModifiersHaveNoResult) {
  for (const char* form :
       {"ld.global.sideways.u32 %r2, [%rd1];", "st.async.global.u32 [%rd1], 5;", "fence.sideways;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
        "[%rd1], [%r1], 16;"}) {
    SmallGpu gpu;
    EXPECT_ANY_THROW(gpu.launch(kernel(std::string(form) + "\nret;"), {}, {1})) << form;
    EXPECT_EQ(gpu.word(0), 0u);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
