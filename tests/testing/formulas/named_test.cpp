// Backward kernels, attention and steps of optimizers by name: right ones pass, wrong ones are
// found.
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/testing/planted/formula_kernels.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::testing::planted {
namespace {

/// The environment's HALFGRAD_SEEDS, or one.
std::uint64_t named_seeds() {
  const char* given = std::getenv("HALFGRAD_SEEDS");
  return given != nullptr ? std::stoull(given) : 1;
}

constexpr std::size_t kNamedStride = kThorough ? 1 : 7;  ///< between the kernels that are tried

KernelReport report_of(const BackwardKernel& planted, DType dtype, std::uint64_t seed) {
  return check_kernel(
      planted.kernel(), planted.op,
      {.dtype = dtype, .shrink = false, .stop_at_first = true, .repeat = 0, .seed = seed});
}

void expect_right_ones_pass(const std::vector<BackwardKernel>& kernels) {
  for (std::size_t i = 0; i < kernels.size(); i += kNamedStride) {
    const BackwardKernel& planted = kernels[i];
    for (const DType dtype : {kFloat32, kFloat16}) {
      if (planted.only_in_float32 && dtype != kFloat32) continue;
      for (std::uint64_t seed = 0; seed < named_seeds(); ++seed) {
        const KernelReport report = report_of(planted, dtype, seed);
        EXPECT_EQ(report.passed(), planted.mistake <= 0)
            << planted.what << ", seed " << seed << '\n'
            << to_text(report);
        EXPECT_EQ(report.findings.empty(), planted.mistake <= 0);
      }
    }
  }
}

TEST(NamedFormulas, RightKernelsPassAndWrongOnesAreFound) {
  expect_right_ones_pass(backward_kernels());
}
TEST(Float8Ops, RightKernelsPassAndWrongOnesAreFound) { expect_right_ones_pass(float8_kernels()); }
TEST(FusedSteps, RightKernelsPassAndWrongOnesAreFound) { expect_right_ones_pass(fused_steps()); }

// A budget that is far too wide would find nothing. Of attention, rows of 66001 have scores without
// a bound.
TEST(NamedFormulas, BudgetsAreUsed) {
  const std::vector<BackwardKernel> kernels = formula_kernels();
  for (std::size_t i = 0; i < kernels.size(); i += kNamedStride) {
    const BackwardKernel& planted = kernels[i];
    if (planted.mistake != 0 || kernel_op(planted.op).decoded) continue;  // codes are exact
    const KernelReport report = report_of(planted, kFloat32, 0);
    EXPECT_GE(report.worst.used, 0.05) << to_text(report);
    EXPECT_LE(report.use.unjudged, report.use.elements * 2 / 5) << to_text(report);
  }
}

TEST(NamedFormulas, EveryOpHasARightAndTwoWrongKernels) {
  for (const std::string& op : formula_kernel_ops()) {
    std::multiset<bool> right;
    for (const BackwardKernel& planted : formula_kernels()) {
      if (planted.op == op) right.insert(planted.mistake <= 0);
    }
    EXPECT_GE(right.count(true), 1U) << op;
    EXPECT_GE(right.count(false), 2U) << op;
  }
}

}  // namespace
}  // namespace halfgrad::testing::planted
