#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/testing/planted/list.h>
#include <halfgrad/tests/thorough.h>

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
  const auto wrong = wrong_kernels(), right = right_kernels();
  EXPECT_GE(wrong.size(), 40u);
  constexpr std::size_t kStride = kThorough ? 1 : 7;  // between the kernels that are tried
  for (std::size_t i = 0; i < wrong.size(); i += kStride) {
    rows.push_back(row(wrong[i]));
    EXPECT_FALSE(rows.back().ends_with("| passed |")) << rows.back();
  }
  for (std::size_t i = 0; i < right.size(); i += kStride) {
    rows.push_back(row(right[i]));
    EXPECT_TRUE(rows.back().ends_with("| passed |")) << rows.back();
  }
  if (!kThorough) return;
  EXPECT_EQ(rows, documented_rows()) << "write docs/planted_bugs.md again: target planted_bugs_doc";
}

}  // namespace
}  // namespace halfgrad::testing::planted
