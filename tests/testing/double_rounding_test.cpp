#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/number_format_of.h>

namespace halfgrad::testing {
namespace {

/// Sums of float64 values in float16, which round to a `Between` before.
template <class Between>
void add_through(const std::vector<Array>& in, const Array& out) {
  const double *a = in[0].data_as<double>(), *b = in[1].data_as<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const auto between = static_cast<Between>(a[i] + b[i]);
    out.data_as<Half>()[i] = Half(static_cast<float>(rounded_to(kFloat16, between)));
  }
}

// Both are within the budget, which has one ulp for the last rounding.
TEST(DoubleRounding, IsABias) {
  const KernelCheckOptions options{.dtype = kFloat64, .output = kFloat16};
  const KernelReport twice = check_kernel(add_through<float>, "add", options);
  ASSERT_EQ(twice.findings.size(), 1) << to_text(twice);
  EXPECT_EQ(twice.findings[0].fault, Fault::biased) << to_text(twice);
  const KernelReport once = check_kernel(add_through<double>, "add", options);
  EXPECT_TRUE(once.passed()) << to_text(once);
}

// A kernel that computes in float32 may round there.
TEST(DoubleRounding, IsRightInTheDtypeThatAccumulates) {
  const KernelReport report = check_kernel(
      add_through<float>, "add", {.dtype = kFloat64, .output = kFloat16, .accumulate = kFloat32});
  EXPECT_TRUE(report.passed()) << to_text(report);
}

}  // namespace
}  // namespace halfgrad::testing
