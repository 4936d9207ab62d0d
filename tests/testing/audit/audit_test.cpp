#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/testing/audit/rules.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::testing::audit {
namespace {

std::vector<std::string> documented_rows() {
  std::ifstream file(HALFGRAD_SOURCE_DIR "/docs/kernel_audit.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line == "## Wrong kernels") rows.clear();  // the table of rules is before it
    if (line.starts_with("| ") && line.find(" | `") != std::string::npos) rows.push_back(line);
  }
  return rows;
}

TEST(KernelAudit, OurCheckFindsTheWrongKernelsAndAccusesNoRightOne) {
  std::vector<std::string> rows;
  for (const AuditKernel& kernel : wrong_kernels()) {
    if (!kThorough && rows.size() == 3) break;
    rows.push_back(row(kernel));
    EXPECT_FALSE(rows.back().ends_with("| passes |")) << rows.back();
  }
  for (const AuditKernel& kernel : right_kernels()) {
    if (!kThorough && rows.size() == 6) break;
    rows.push_back(row(kernel));
    EXPECT_TRUE(rows.back().ends_with("| passes |")) << rows.back();
  }
  if (!kThorough) return;
  EXPECT_EQ(rows, documented_rows()) << "write docs/kernel_audit.md again: kernel_audit_doc";
}

/// Adds `error` to each element, or to every tenth.
AuditKernel shifted_copy(float error, bool every_element) {
  return {
      "", "relu", kFloat32, "", {1, 100, 1}, [=](const std::vector<Array>& in, const Array& out) {
        for (std::int64_t i = 0; i < out.numel(); ++i) {
          const float y = std::max(0.0f, in[0].data_as<float>()[i]);
          out.data_as<float>()[i] = y + (every_element || i % 10 == 0 ? error : 0);
        }
      }};
}

TEST(KernelAudit, RulesAreThoseOfTheirDocuments) {
  const std::vector<Rule> all = rules(kFloat32);
  const auto passed = [&](const AuditKernel& kernel) {
    std::vector<bool> results;
    for (const Rule& rule : all) results.push_back(passes(rule, kernel));
    return results;
  };
  EXPECT_EQ(passed(shifted_copy(0.00005f, true)),
            (std::vector<bool>{true, true, true, true, true}));
  EXPECT_EQ(passed(shifted_copy(0.004f, true)), (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(passed(shifted_copy(0.5f, true)),
            (std::vector<bool>{false, false, false, false, false}));
  EXPECT_EQ(rules(kFloat16)[0].atol, 1e-2) << "KernelBench's tolerance depends on the dtype";
}

}  // namespace
}  // namespace halfgrad::testing::audit
