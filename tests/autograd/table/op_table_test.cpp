#include <gtest/gtest.h>

#include <set>
#include <string>

#include <halfgrad/tests/tools/ops_doc.h>

namespace halfgrad {
namespace {

TEST(OpTable, HasTheEntryOfEveryPageOnce) {
  const auto pages = ops_doc::pages();
  ASSERT_GT(pages.size(), 100);
  std::multiset<std::string> names;
  for (const OpEntry& op : all_ops()) names.insert(op.name);
  for (const auto& [op, page] : pages) {
    EXPECT_EQ(names.count(op), 1) << page << ": add " << op
                                  << "_entry() to autograd/op_table/op_table.cpp";
  }
  for (const std::string& name : names) {
    EXPECT_TRUE(pages.contains(name)) << name << ": define it as " << name << "_entry()";
  }
}

TEST(OpTable, EveryOpHasExamples) {
  for (const OpEntry& op : all_ops()) EXPECT_FALSE(op.examples.empty()) << op.name;
}

}  // namespace
}  // namespace halfgrad
