#include <halfgrad/data/csv.h>

#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/data/csv/csv_text.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::data {
namespace {

using files::FormatCode;
using files::FormatError;
using Texts = std::vector<std::string>;

Table parse_text(const std::string& text, const CsvOptions& options = {}) {
  return parse_csv(std::as_bytes(std::span(text)), "people.csv", options);
}

std::string refusal(const std::string& text, FormatCode code, const CsvOptions& options = {}) {
  try {
    parse_text(text, options);
  } catch (const FormatError& error) {
    EXPECT_EQ(name(error.code()), name(code)) << text;
    return error.what();
  }
  return "no error";
}

TEST(Csv, ReadsAFile) {
  const tests::Folder folder;
  std::ofstream(folder / "a.csv") << "age,name\n31,Ada\n";
  const Table table = load_csv(folder / "a.csv");
  EXPECT_EQ(table.columns(), (Texts{"age", "name"}));
  EXPECT_EQ(table.texts("name"), Texts{"Ada"});
  EXPECT_EQ(message_of<FormatError>([&] { load_csv(folder / "none.csv"); }),
            "load_csv: expected a file, got no such file: " + (folder / "none.csv").string());
}

TEST(Csv, AcceptsEveryLineEndAndAMissingLastOne) {
  for (const std::string& end : Texts{"\n", "\r\n", "\r"}) {
    for (const std::string& last : Texts{end, ""}) {
      const Table table = parse_text("a,b" + end + "1,2" + end + end + "3,4" + last);
      EXPECT_EQ(table.texts("a"), (Texts{"1", "3"}));
      EXPECT_EQ(table.texts("b"), (Texts{"2", "4"}));
    }
  }
}

TEST(Csv, QuotesProtectDelimitersQuotesAndLineEnds) {
  const Table table = parse_text("\"a,b\",c\n\"x, \"\"y\"\"\nz\",\" 1 \"\n\"\",2\n");
  EXPECT_EQ(table.columns(), (Texts{"a,b", "c"}));
  EXPECT_EQ(table.texts("a,b"), (Texts{"x, \"y\"\nz", ""}));
  EXPECT_EQ(table.texts("c"), (Texts{" 1 ", "2"}));
}

TEST(Csv, RemovesSpacesAroundFieldsAndAByteOrderMark) {
  const Table table = parse_text("\xEF\xBB\xBF a ,b\n <=50K,\t2 \n");
  EXPECT_EQ(table.columns(), (Texts{"a", "b"}));
  EXPECT_EQ(table.texts("a"), Texts{"<=50K"});
  EXPECT_EQ(table.texts("b"), Texts{"2"});
}

TEST(Csv, OtherDelimitersAndNoHeader) {
  EXPECT_EQ(parse_text("a\tb\n1,5\t2\n", {.delimiter = '\t'}).texts("a"), Texts{"1,5"});
  const Table numbered = parse_text("1;2\n3;4\n", {.delimiter = ';', .header = false});
  EXPECT_EQ(numbered.columns(), (Texts{"0", "1"}));
  EXPECT_EQ(numbered.texts("1"), (Texts{"2", "4"}));
  const Table named = parse_text("1,2\n", {.header = false, .names = {"a", "b"}});
  EXPECT_EQ(named.texts("b"), Texts{"2"});
}

TEST(Csv, AHeaderAloneHasNoRows) { EXPECT_EQ(parse_text("a,b\n").size(), 0); }

TEST(Csv, NamesTheLineOfAFault) {
  EXPECT_EQ(
      refusal("a,b\n1,2\n\"x\ny\",2\n1,2,3\n", FormatCode::size_mismatch),
      "load_csv: expected 2 fields, got 3 (line 5) in people.csv at byte 16; put a field that "
      "contains the delimiter in quotes");
  EXPECT_EQ(
      refusal("a,b\n1,\"x\n\n", FormatCode::bad_syntax),
      "load_csv: expected a quote at the end of the field, got the end of the file (line 2) in "
      "people.csv at byte 6");
  EXPECT_EQ(
      refusal("a\n5\"\n", FormatCode::bad_syntax),
      "load_csv: expected a quote only at the start of a field, got \"5\"\" (line 2) in "
      "people.csv at byte 3; put the whole field in quotes, and write \"\" for a quote within "
      "it");
  EXPECT_EQ(refusal("a\n\"x\"y\n", FormatCode::bad_syntax),
            "load_csv: expected the end of the field after its quote, got \"y\" (line 2) in "
            "people.csv at byte 5; write \"\" for a quote within a field in quotes");
  EXPECT_EQ(refusal("a,a\n", FormatCode::duplicate_name),
            "load_csv: expected a name for each column, got \"a\" twice (line 1) in people.csv at "
            "byte 0");
  EXPECT_EQ(refusal(std::string("a\n1\0", 4), FormatCode::bad_text),
            "load_csv: expected text, got a zero byte (line 2) in people.csv at byte 3; save the "
            "file as UTF-8 text");
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_EQ(refusal("", FormatCode::truncated),
            "load_csv: expected a record, got an empty file (line 1) in people.csv at byte 0");
  refusal("\n\r\n", FormatCode::truncated);
  refusal("\xEF\xBB\xBF", FormatCode::truncated);
  refusal("", FormatCode::truncated, {.header = false});
  EXPECT_EQ(
      refusal("\x1F\x8B\x08", FormatCode::bad_magic),
      "load_csv: expected text, got a gzip file in people.csv at byte 0; unpack it with gunzip "
      "first");
  refusal("1,2\n", FormatCode::size_mismatch, {.header = false, .names = {"a"}});
  refusal("1\n", FormatCode::size_mismatch, {.header = false, .names = {"a", "b"}});
}

TEST(Csv, RefusesContradictingOptions) {
  const auto refused = [](const CsvOptions& options) {
    return message_of<std::invalid_argument>([&] { parse_text("a\n", options); });
  };
  EXPECT_EQ(refused({.decimal = ','}),
            "load_csv: expected a delimiter other than the decimal, got , for both");
  EXPECT_EQ(refused({.decimal = '\''}), "load_csv: expected . or , as decimal, got '");
  EXPECT_EQ(refused({.delimiter = '"'}),
            "load_csv: expected a delimiter other than a quote and a line end, got \"");
  EXPECT_EQ(refused({.names = {"a"}}),
            "load_csv: expected names only for a file without a header, got 1; set header = false");
  EXPECT_EQ(refused({.header = false, .names = {"a", "a"}}),
            "load_csv: expected a name for each column, got one twice among 2");
}

TEST(Csv, CutsLongTextsBeforeTheLine) {
  const std::string message =
      refusal("a\n" + std::string(500, 'x') + "\"\n", FormatCode::bad_syntax);
  EXPECT_NE(message.find(std::string(60, 'x') + "...\" (line 2)"), std::string::npos) << message;
}

TEST(CsvNumber, ReadsDecimalNumbers) {
  using detail::parse_number;
  EXPECT_EQ(parse_number("-1.5e3", '.'), -1500);
  EXPECT_EQ(parse_number("+2", '.'), 2);
  EXPECT_EQ(parse_number(".5", '.'), 0.5);
  EXPECT_EQ(parse_number("3,25", ','), 3.25);
  EXPECT_EQ(parse_number("1e-320", '.'), 1e-320);
  const std::string zeros(400, '0');
  const std::vector<std::string> tiny_numbers{"1e-400", "+1.5E-999999999999999999999",
                                              "0." + zeros + "1", "0." + zeros + "1e3"};
  for (const std::string& tiny : tiny_numbers) {
    EXPECT_EQ(parse_number(tiny, '.'), 0) << tiny << " underflows";
  }
  EXPECT_TRUE(std::signbit(parse_number("-1e-400", '.').value()));
  EXPECT_EQ(parse_number("1,5e-400", ','), 0);
  for (const std::string& huge : {std::string("-1e999999999999999999999"), "1" + zeros + "e-3"}) {
    EXPECT_EQ(parse_number(huge, '.'), std::nullopt) << huge;
  }
  for (const char* text :
       {"", "x", "1x", "1 ", "+-1", "++1", "0x10", "1,5", "inf", "nan", "1e999", "1.2.3"}) {
    EXPECT_EQ(parse_number(text, '.'), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number("1.000,5", ','), std::nullopt);
}

TEST(CsvNumber, ReadsWholeNumbers) {
  using detail::parse_integer;
  EXPECT_EQ(parse_integer("-7", '.'), -7);
  EXPECT_EQ(parse_integer("+7", '.'), 7);
  EXPECT_EQ(parse_integer("9223372036854775807", '.'), 9223372036854775807);
  EXPECT_EQ(parse_integer("3.0", '.'), 3);
  EXPECT_EQ(parse_integer("1e3", '.'), 1000);
  for (const char* text : {"3.5", "9223372036854775808", "1e300", "", "a", "nan"}) {
    EXPECT_EQ(parse_integer(text, '.'), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace halfgrad::data
