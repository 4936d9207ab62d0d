#include <string>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/testing/planted/classes.h>
#include <halfgrad/tests/testing/planted/right_habits.h>
#include <halfgrad/tests/testing/planted/right_kernels.h>
#include <halfgrad/tests/testing/seeds.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::testing::planted {
namespace {

/// The default check in a process of its own, until the first fault.
KernelReport checked(const PlantedKernel& planted, std::uint64_t seed) {
  return check_kernel(planted.kernel, planted.op,
                      {.dtype = planted.dtype,
                       .shrink = false,
                       .stop_at_first = true,
                       .own_process = true,
                       .timeout = 1,
                       .repeat = 5000,  // about as many as the default, without its time limit
                       .seed = seed});
}

constexpr std::size_t kStride = kThorough ? 1 : 7;  ///< between the kernels that are tried

class WrongKernels : public ::testing::TestWithParam<int> {};

TEST_P(WrongKernels, AreFoundForSeveralSeeds) {
  const WrongClass wrong = wrong_classes()[static_cast<std::size_t>(GetParam())];
  EXPECT_GE(wrong.kernels.size(), 20u);
  for (std::size_t i = 0; i < wrong.kernels.size(); i += kStride) {
    const PlantedKernel& planted = wrong.kernels[i];
    for (std::uint64_t seed = 0; seed < seeds(wrong.seeds); ++seed) {
      const KernelReport report = checked(planted, seed);
      EXPECT_FALSE(report.findings.empty())
          << planted.op << ' ' << name(planted.dtype) << ", " << planted.what << ", seed " << seed;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Classes, WrongKernels, ::testing::Range(0, 7), [](const auto& info) {
  return std::string(wrong_classes()[static_cast<std::size_t>(info.param)].name);
});

// The default check, to its end.
TEST(RightKernels, AreNotAccused) {
  auto kernels = more_right_kernels();
  for (PlantedKernel& habit : right_habits()) kernels.push_back(std::move(habit));
  for (std::size_t i = 0; i < kernels.size(); i += kStride) {
    const PlantedKernel& planted = kernels[i];
    for (std::uint64_t seed = 0; seed < seeds(1); ++seed) {
      const KernelReport report = checked(planted, seed);
      EXPECT_TRUE(report.passed()) << planted.what << ", seed " << seed << '\n' << to_text(report);
    }
  }
}

}  // namespace
}  // namespace halfgrad::testing::planted
