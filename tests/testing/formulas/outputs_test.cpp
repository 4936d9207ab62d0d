// Kernels with several outputs.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_abi.h>
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::testing {
namespace {

using In = std::vector<BoundedArray>;
using Arrays = std::vector<Array>;

/// The sum and the largest element of each row.
KernelFormula sum_and_largest() {
  return {.name = "sum_and_largest",
          .inputs = {{"m", "k"}},
          .reference =
              [](const In& x) {
                return BoundedArrays{sum(x[0], -1), amax(x[0], -1)};
              },
          .least = {0, 0, 1},
          .outputs = {{.name = "total"}, {.name = "largest"}}};
}

enum class Mistake { none, value, unwritten, beyond, crash };

void run(const Arrays& in, const Arrays& out, Mistake mistake) {
  const std::int64_t m = in[0].size(0), k = in[0].size(1);
  const float* x = in[0].data_as<float>();
  for (std::int64_t row = 0; row < m; ++row) {
    float total = 0, largest = x[row * k];
    for (std::int64_t i = 0; i < k; ++i) {
      const float each = x[row * k + i];
      total += each;
      if (!(each <= largest) && !std::isnan(largest)) largest = each;
    }
    if (mistake == Mistake::value && row == 1) largest += 1;
    out[0].data_as<float>()[row] = total;
    if (mistake != Mistake::unwritten || row != 1) out[1].data_as<float>()[row] = largest;
  }
  if (mistake == Mistake::beyond && m > 0) out[1].data_as<float>()[m] = 0;
  if (mistake == Mistake::crash && m > 0) out[1].data_as<float>()[m + 4096] = 0;
}

KernelReport checked(Mistake mistake, bool own_process = false) {
  return check_kernel([mistake](const Arrays& in, const Arrays& out) { run(in, out, mistake); },
                      sum_and_largest(), {.shrink = false, .own_process = own_process});
}

TEST(Outputs, RightKernelPasses) {
  for (const bool own_process : {false, true}) {
    const KernelReport report = checked(Mistake::none, own_process);
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

std::string first_message(const KernelReport& report) {
  return report.findings.empty() ? "none" : report.findings[0].message;
}

TEST(Outputs, FindingsNameTheOutput) {
  EXPECT_TRUE(first_message(checked(Mistake::value)).starts_with("element (1) of largest is "));
  const KernelReport unwritten = checked(Mistake::unwritten);
  EXPECT_EQ(unwritten.findings.back().fault, Fault::unwritten) << to_text(unwritten);
  EXPECT_EQ(unwritten.findings.back().message,
            "element (1) of largest is left as it was; 1 of 3 elements are");
  EXPECT_NE(first_message(checked(Mistake::beyond)).find("of output largest"), std::string::npos);
  const KernelReport crash = checked(Mistake::crash, true);
  EXPECT_EQ(crash.findings[0].fault, Fault::out_of_bounds);
  EXPECT_NE(first_message(crash).find("of output largest"), std::string::npos) << to_text(crash);
}

TEST(Outputs, KernelOfOneOutputIsRefused) {
  const auto check = [] { check_kernel([](const Arrays&, const Array&) {}, sum_and_largest()); };
  EXPECT_EQ(message_of<std::invalid_argument>(check),
            "check_kernel: expected a kernel (inputs, outputs), as sum_and_largest has 2 outputs, "
            "got one of a single output");
}

// Rows whose flag is set do not matter: the kernel leaves them as they were.
TEST(Outputs, ElementsThatDoNotMatterMayStayUnwritten) {
  const auto formula = [](bool masked) {
    KernelFormula f{.name = "doubled_rows",
                    .inputs = {{"m", "k"}, FormulaInput({"m"}).booleans()},
                    .reference = [](const In& x) { return 2 * x[0]; },
                    .outputs = {{.name = "rows"}}};
    if (masked) {
      f.outputs[0].matters = [](const std::vector<Values>& operands) {
        const auto k = static_cast<std::size_t>(operands[0].sizes[1]);
        std::vector<bool> matters;
        for (const double flag : operands[1].data) matters.insert(matters.end(), k, flag == 0);
        return matters;
      };
    }
    return f;
  };
  const auto kernel = [](const Arrays& in, const Array& out) {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t i = 0; i < in[0].numel(); ++i) {
      if (in[1].data_as<bool>()[i / k]) continue;
      out.data_as<float>()[i] = 2 * in[0].data_as<float>()[i];
    }
  };
  const KernelReport report = check_kernel(kernel, formula(true));
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_FALSE(check_kernel(kernel, formula(false), {.shrink = false}).passed());
}

TEST(Outputs, CountOfElementsThatMatterIsThatOfTheOutput) {
  const KernelFormula doubled{.name = "doubled",
                              .inputs = {{"m"}},
                              .reference = [](const In& x) { return 2 * x[0]; },
                              .outputs = {{.name = "y", .matters = [](const std::vector<Values>&) {
                                             return std::vector{true};
                                           }}}};
  const auto kernel = [](const Arrays&, const Array&) {};
  EXPECT_THROW(check_kernel(kernel, doubled, {.dims = {{5, 1, 1}}}), std::invalid_argument);
}

// A wide output is float32 beside outputs of 16 bits.
TEST(Outputs, WideOutputIsStoredInFloat32) {
  KernelFormula wide = sum_and_largest();
  wide.outputs[0].wide = true;
  bool seen = false;
  const auto kernel = [&](const Arrays& in, const Arrays& out) {
    EXPECT_EQ(out[0].dtype(), kFloat32);
    EXPECT_EQ(out[1].dtype(), kFloat16);
    seen = true;
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      float total = 0;
      Half largest = in[0].data_as<Half>()[row * k];
      for (std::int64_t i = 0; i < k; ++i) {
        const Half each = in[0].data_as<Half>()[row * k + i];
        const auto x = static_cast<float>(each), most = static_cast<float>(largest);
        total += x;
        if (!(x <= most) && !std::isnan(most)) largest = each;
      }
      out[0].data_as<float>()[row] = total;
      out[1].data_as<Half>()[row] = largest;
    }
  };
  const KernelReport report = check_kernel(kernel, wide, {.dtype = kFloat16});
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_TRUE(seen);
}

TEST(Outputs, GradientsByAllInputs) {
  const KernelFormula product{.name = "product",
                              .inputs = {{"m", "k"}, {"k", "n"}},
                              .reference = [](const In& x) { return matmul(x[0], x[1]); }};
  const auto kernel = [](bool transposes) {
    return [=](const Arrays& in, const Arrays& out) {
      const std::int64_t m = in[0].size(0), k = in[0].size(1), n = in[1].size(1);
      const float *a = in[0].data_as<float>(), *b = in[1].data_as<float>();
      const float* dy = in[2].data_as<float>();
      for (std::int64_t i = 0; i < m * k; ++i) {
        float total = 0;
        for (std::int64_t j = 0; j < n; ++j) total += dy[i / k * n + j] * b[i % k * n + j];
        out[0].data_as<float>()[i] = total;
      }
      for (std::int64_t i = 0; i < k * n; ++i) {
        float total = 0;
        for (std::int64_t j = 0; j < m; ++j) {
          total += a[j * k + i / n] * dy[transposes && n == m ? i % n * n + j : j * n + i % n];
        }
        out[1].data_as<float>()[i] = total;
      }
    };
  };
  const KernelFormula backward = gradients(product, {0, 1});
  EXPECT_EQ(backward.outputs[1].name, "d1");
  const KernelReport report = check_kernel(kernel(false), backward);
  EXPECT_TRUE(report.passed()) << to_text(report);
  const KernelReport wrong = check_kernel(kernel(true), backward);
  ASSERT_FALSE(wrong.findings.empty());
  EXPECT_NE(first_message(wrong).find(" of d1 is "), std::string::npos) << to_text(wrong);
}

}  // namespace
}  // namespace halfgrad::testing
