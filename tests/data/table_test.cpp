#include <halfgrad/data/table.h>

#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/data/csv.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::data {
namespace {

using Texts = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;

Table parse(const std::string& text, const CsvOptions& options = {}) {
  return parse_csv(std::as_bytes(std::span(text)), "people.csv", options);
}

const std::string kPeople =
    "age,height,town,pet\n"
    "31,1.7,Oslo,2\n"
    "4,NA,Bergen,1.0\n"
    "62,1.8,,0\n"
    "7,0.5,Oslo,1\n";

TEST(Table, GivesColumnsOfFloatsInTheCallersOrder) {
  const Table table = parse(kPeople);
  EXPECT_EQ(table.size(), 4);
  const Tensor x = table.without_missing({"height"}).floats({"height", "age"});
  EXPECT_EQ(x.sizes(), (Shape{3, 2}));
  EXPECT_EQ(x.dtype(), kFloat32);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.7f, 31, 1.8f, 62, 0.5f, 7}));
}

TEST(Table, GivesLabelsAndCategories) {
  const Table table = parse(kPeople);
  const Tensor pets = table.integers("pet");
  EXPECT_EQ(pets.dtype(), kInt64);
  EXPECT_EQ(pets.to_vector<std::int64_t>(), (Ids{2, 1, 0, 1}));
  const auto [indices, names] = table.without_missing({"town"}).categories("town");
  EXPECT_EQ(names, (Texts{"Bergen", "Oslo"}));
  EXPECT_EQ(indices.dtype(), kInt64);
  EXPECT_EQ(indices.to_vector<std::int64_t>(), (Ids{1, 0, 1}));
  EXPECT_EQ(table.texts("town"), (Texts{"Oslo", "Bergen", "", "Oslo"}));
}

TEST(Table, KnownCategoriesKeepTheirIndices) {
  const Table table = parse("town\nOslo\nBergen\n");
  EXPECT_EQ(table.categories("town", {"Oslo", "Moss", "Bergen"}).to_vector<std::int64_t>(),
            (Ids{0, 2}));
  EXPECT_EQ(message_of<files::FormatError>([&] {
              table.categories("town", {"Oslo", "Moss"});
            }),
            "load_csv: expected a category out of \"Oslo\", \"Moss\" in column \"town\", got "
            "\"Bergen\" (line 3) in people.csv at byte 10");
}

TEST(Table, MissingElementsAreErrorsUnlessTheCallerReplacesThem) {
  const Table table = parse(kPeople);
  EXPECT_EQ(
      message_of<files::FormatError>([&] { table.floats({"height"}); }),
      "load_csv: expected a number in column \"height\", got \"NA\" (line 3) in people.csv at "
      "byte 36; drop such rows by without_missing(), or pass {.missing = VALUE}");
  EXPECT_EQ(table.floats({"height"}, {.missing = -1}).to_vector<float>(),
            (std::vector<float>{1.7f, -1, 1.8f, 0.5f}));
  EXPECT_EQ(table.is_missing("height").dtype(), kBool);
  EXPECT_EQ(table.is_missing("height").to_vector<int>(), (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(table.without_missing().floats({"age"}).to_vector<float>(),
            (std::vector<float>{31, 7}));
  EXPECT_THROW(table.categories("town"), files::FormatError);
  EXPECT_THROW(parse("a,b\n1,\n").integers("b"), files::FormatError);
  EXPECT_THROW(parse("a,b\n1,\"\"\n").integers("b"), files::FormatError);  // missing in quotes, too
  EXPECT_EQ(parse("a\nNA\nx\n", {.missing = {}}).categories("a").names, (Texts{"NA", "x"}));
}

TEST(Table, NamesLineAndColumnOfAWrongElement) {
  EXPECT_EQ(
      message_of<files::FormatError>([] { parse("id,age\n\"a\nb\",5\n1,abc\n").floats({"age"}); }),
      "load_csv: expected a number in column \"age\", got \"abc\" (line 4) in people.csv at "
      "byte 17; name the text of missing values in CsvOptions::missing, and a comma for a "
      "decimal point in CsvOptions::decimal");
  EXPECT_EQ(
      message_of<files::FormatError>([] { parse("id,age\n\"a\nb\",x\n").floats({"age"}); }),
      "load_csv: expected a number in column \"age\", got \"x\" (line 3) in people.csv at byte "
      "13; name the text of missing values in CsvOptions::missing, and a comma for a decimal "
      "point in CsvOptions::decimal");
  EXPECT_EQ(message_of<files::FormatError>([] { parse("a\n1e39\n").floats({"a"}); }),
            "load_csv: expected a number that float32 can hold in column \"a\", got \"1e39\" (line "
            "2) in people.csv at byte 2");
  EXPECT_EQ(message_of<files::FormatError>([] { parse("a\n1.5\n").integers("a"); }),
            "load_csv: expected a whole number in column \"a\", got \"1.5\" (line 2) in people.csv "
            "at byte 2; use categories() for names of classes, and floats() for fractions");
  EXPECT_THROW(parse("a\ninf\n").floats({"a"}), files::FormatError);
  EXPECT_EQ(parse("a\n9007199254740991.0\n").integers("a").item<std::int64_t>(), 9007199254740991);
  EXPECT_THROW(parse("a\n9007199254740993.0\n").integers("a"), files::FormatError);
}

TEST(Table, NamesTheColumnsIfOneIsUnknown) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { parse("a,b\n").floats({"c"}); }),
            "Table: expected a column out of \"a\", \"b\", got \"c\"");
  EXPECT_EQ(message_of<std::invalid_argument>([] { parse("a;b\n1;2\n").integers("a"); }),
            "Table: expected a column out of \"a;b\", got \"a\"; set CsvOptions::delimiter");
  EXPECT_EQ(message_of<std::invalid_argument>([] { parse("a\n").floats({}); }),
            "Table: expected names of columns, got none");
}

TEST(Table, DecimalCommas) {
  const Table table = parse("a;b\n1,5;2\n", {.delimiter = ';', .decimal = ','});
  EXPECT_EQ(table.floats({"a", "b"}).to_vector<float>(), (std::vector<float>{1.5f, 2}));
}

TEST(Table, PrintsASummary) {
  std::ostringstream out;
  out << parse(kPeople);
  EXPECT_EQ(out.str(),
            "4 rows\n"
            "  age: numbers from 4 to 62\n"
            "  height: numbers from 0.5 to 1.8; 1 missing\n"
            "  town: 2 different texts: Bergen, Oslo; 1 missing\n"
            "  pet: numbers from 0 to 2\n");
}

TEST(Table, OfNoRowsHasEmptyTensors) {
  const Table table = parse("a,b\n");
  EXPECT_EQ(table.floats({"a", "b"}).sizes(), (Shape{0, 2}));
  EXPECT_EQ(table.integers("a").sizes(), Shape{0});
  EXPECT_TRUE(table.categories("a").names.empty());
}

}  // namespace
}  // namespace halfgrad::data
