// docs/own_data.md: its code is that of examples/own_data.cpp, which a test runs, and the code
// below.
#include <fstream>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/data/csv.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/io/state_dict.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

#include "page.h"

namespace hg = halfgrad;

namespace halfgrad::tests {
namespace {

TEST(OwnDataPage, ItsCodeIsInPrograms) {
  Page("docs/own_data.md").expect_code("examples/own_data.cpp");
}

TEST(OwnDataPage, ItsSnippetsRun) {
  const Folder folder;
  const auto path = folder / "file";
  std::ofstream(path) << "name;height\nOslo;1,5\nMoss;NA\n";
  const auto prices = hg::data::load_csv(path, {.delimiter = ';', .decimal = ','});
  EXPECT_EQ(prices.without_missing().floats({"height"}).to_vector<float>(),
            std::vector<float>{1.5f});
  const auto& table = prices;
  const hg::Tensor height = table.floats({"height"}, {.missing = 1.7});
  EXPECT_EQ(height.to_vector<float>(), (std::vector<float>{1.5f, 1.7f}));

  const hg::nn::Linear model(2, 3);
  hg::nn::Linear other(2, 3);
  hg::io::save_state_dict(path, model.state_dict());
  other.load_state_dict(hg::io::load_state_dict(path));
  EXPECT_TRUE(hg::equal(model.weight, other.weight));
}

TEST(OwnDataPage, ItsErrorAndItsDefaultsAreThoseOfTheCode) {
  Page page("docs/own_data.md");
  const std::string text = "name,age\n" + std::string(192, 'x') + ",abc\n";
  const std::string message = message_of(
      [&] { data::parse_csv(std::as_bytes(std::span(text)), "people.csv").floats({"age"}); });
  const std::string start = "load_csv: expected a number in column \"age\", got \"abc\" (line ";
  EXPECT_TRUE(message.starts_with(start)) << message;
  page.expect(start + "12) in people.csv at byte 203; name the text of missing values in");
  EXPECT_NE(message.find(") in people.csv at byte 202; name the text of missing values in"),
            std::string::npos)
      << message;
  std::string listed;
  for (const std::string& missing : data::CsvOptions().missing) {
    if (!missing.empty())
      listed += (listed.empty() ? "`" : missing == "null" ? " and `" : ", `") + missing + "`";
  }
  page.expect("empty, " + listed + ".");
}

}  // namespace
}  // namespace halfgrad::tests
