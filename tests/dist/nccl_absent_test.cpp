#include <string>

#include <gtest/gtest.h>

#include <halfgrad/dist/nccl_communicators.h>

namespace halfgrad::dist {
namespace {

TEST(NcclAbsent, SaysWhatIsMissing) {
  if (why_nccl_is_unavailable().empty()) GTEST_SKIP() << "this build has NCCL";
  try {
    static_cast<void>(make_nccl_communicators({Device(kCUDA, 0)}));
    FAIL() << "expected an error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("the CUDA backend, and nccl.h"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace halfgrad::dist
