#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <halfgrad/tests/tools/ops_doc.h>

namespace halfgrad {
namespace {

/// The rows of docs/ops.md, in order.
std::vector<std::string> documented_rows() {
  std::ifstream file(HALFGRAD_SOURCE_DIR "/docs/ops.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

// Measured errors depend on the machine, so they are only compared with the bound of the op.
TEST(OpsDoc, HasARowForEveryOp) {
  const std::vector<std::string> rows = documented_rows();
  const std::vector<OpEntry>& ops = all_ops();
  ASSERT_EQ(rows.size(), ops.size()) << "write docs/ops.md again: target ops_doc";
  const auto pages = ops_doc::pages();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string start = ops_doc::row_start(ops[i], pages.at(ops[i].name));
    ASSERT_TRUE(rows[i].starts_with(start)) << rows[i] << "\nexpected " << start;
    std::istringstream errors(rows[i].substr(start.size()));
    std::size_t count = 0;
    for (std::string column; std::getline(errors, column, '|'); ++count) {
      EXPECT_LE(std::stod(column), ops[i].roundoffs) << rows[i];
    }
    EXPECT_EQ(count, ops_doc::kMeasuredDTypes.size()) << rows[i];
  }
}

}  // namespace
}  // namespace halfgrad
