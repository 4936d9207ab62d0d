#include <string>

#include <gtest/gtest.h>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// A kernel with a local array of 4 words: threads store words [0, stored) and load word 2.
std::string local_array(unsigned stored) {
  std::string text = ".local .align 4 .b8 depot[16];\nmov.u64 %rd2, depot;\n";
  for (unsigned i = 0; i < stored; ++i) {
    text += "st.local.u32 [%rd2+" + std::to_string(4 * i) + "], %r1;\n";
  }
  return kernel(text + "ld.local.u32 %r2, [%rd2+8];\n" + kStoreResult);
}

TEST(Initialisation, ALocalArrayIsUnwrittenWhenAThreadBegins) {
  for (const unsigned stored : {2u, 3u}) {
    SmallGpu gpu;
    gpu.settings.check_init = true;
    gpu.launch(local_array(3), {2}, {64});
    EXPECT_TRUE(gpu.findings.all().empty());
    gpu.launch(local_array(stored), {4}, {64});
    const auto findings = gpu.found(FindingKind::uninitialised);
    ASSERT_EQ(findings.size(), stored == 3 ? 0u : 1u);
    if (stored == 3) continue;
    EXPECT_NE(findings[0].message.find("local memory"), std::string::npos);
    EXPECT_EQ(findings[0].count, 256u);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
