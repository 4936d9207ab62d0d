#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/testing/planted/list.h>

namespace halfgrad::testing::planted {
namespace {

std::vector<std::string> documented_rows() {
  std::ifstream file(HALFGRAD_SOURCE_DIR "/docs/planted_bugs.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

TEST(PlantedBugs, EveryWrongKernelIsFoundAndEveryCorrectOnePasses) {
  std::vector<std::string> rows;
  for (const PlantedKernel& kernel : wrong_kernels()) {
    rows.push_back(row(kernel));
    EXPECT_FALSE(rows.back().ends_with("| passed |")) << rows.back();
  }
  EXPECT_GE(rows.size(), 40u);
  for (const PlantedKernel& kernel : right_kernels()) {
    rows.push_back(row(kernel));
    EXPECT_TRUE(rows.back().ends_with("| passed |")) << rows.back();
  }
  EXPECT_EQ(rows, documented_rows()) << "write docs/planted_bugs.md again: target planted_bugs_doc";
}

}  // namespace
}  // namespace halfgrad::testing::planted
