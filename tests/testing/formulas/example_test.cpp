// The example of docs/kernel_check.md, "Your own op".
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

// example
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_report.h>
#include <cmath>

using namespace halfgrad;
using namespace halfgrad::testing;

// y = silu(x w^T) * (x v^T), for x [m, k], w and v [n, k]
void my_swiglu(const std::vector<Array>& inputs, const Array& output) {
  const float *x = inputs[0].data_as<float>(), *w = inputs[1].data_as<float>();
  const float* v = inputs[2].data_as<float>();
  const std::int64_t m = output.size(0), n = output.size(1), k = inputs[0].size(1);
  for (std::int64_t i = 0; i < m * n; ++i) {
    float gate = 0, up = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      gate += x[i / n * k + j] * w[i % n * k + j];
      up += x[i / n * k + j] * v[i % n * k + j];
    }
    output.data_as<float>()[i] = gate / (1 + std::exp(-gate)) * up;
  }
}

KernelReport check_swiglu() {
  const KernelFormula swiglu{.name = "swiglu",
                             .inputs = {{"m", "k"}, {"n", "k"}, {"n", "k"}},
                             .reference = [](const std::vector<BoundedArray>& x) {
                               return silu(matmul(x[0], x[1].t())) * matmul(x[0], x[2].t());
                             }};
  return check_kernel(my_swiglu, swiglu, {.dtype = kFloat32});
}
// end

namespace halfgrad::tests {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(HALFGRAD_SOURCE_DIR "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(FormulaExample, OfTheDocumentationPasses) {
  const KernelReport report = check_swiglu();
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_GT(report.worst.used, 0.05) << to_text(report);
}

TEST(FormulaExample, StandsInTheDocumentation) {
  const std::string begin = "// example\n", end = "// end\n";
  const std::string source = text_of("tests/testing/formulas/example_test.cpp");
  const auto first = source.find(begin) + begin.size();
  const std::string example = source.substr(first, source.find(end) - first);
  EXPECT_NE(text_of("docs/kernel_check.md").find(example), std::string::npos)
      << "expected the lines between \"// example\" and \"// end\" in docs/kernel_check.md";
}

}  // namespace
}  // namespace halfgrad::tests
