// libFuzzer target: parse_csv_text must cut or refuse any text. The first byte chooses the dialect.
// A table that is written again with every field in quotes must have the same names and values.
// Built and run by tools/fuzz.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <halfgrad/data/csv/csv_text.h>

namespace {

using halfgrad::data::detail::CsvText;

void append(std::string& text, const std::string& value) {
  text += '"';
  for (const char c : value) text += c == '"' ? "\"\"" : std::string(1, c);
  text += '"';
}

std::string written(const CsvText& csv) {
  std::string text;
  const auto end_of = [&](std::size_t column) {
    return column + 1 < csv.columns.size() ? csv.dialect.delimiter : '\n';
  };
  for (std::size_t j = 0; j < csv.columns.size(); ++j) {
    append(text, csv.columns[j]);
    text += end_of(j);
  }
  for (std::size_t i = 0; i < csv.records(); ++i) {
    for (std::size_t j = 0; j < csv.columns.size(); ++j) {
      append(text, csv.value(i, j));
      text += end_of(j);
    }
  }
  return text;
}

void expect_same(const CsvText& a, const CsvText& b) {
  if (a.columns != b.columns || a.records() != b.records()) __builtin_trap();
  for (std::size_t i = 0; i < a.records(); ++i) {
    for (std::size_t j = 0; j < a.columns.size(); ++j) {
      if (a.value(i, j) != b.value(i, j)) __builtin_trap();
    }
  }
}

void read_numbers(const CsvText& csv) {
  for (std::size_t i = 0; i < csv.records(); ++i) {
    for (std::size_t j = 0; j < csv.columns.size(); ++j) {
      const std::string value = csv.value(i, j);
      const auto number = halfgrad::data::detail::parse_number(value, csv.dialect.decimal);
      if (number && !std::isfinite(*number)) __builtin_trap();
      halfgrad::data::detail::parse_integer(value, csv.dialect.decimal);
      if (number) continue;
      try {
        csv.refuse(i, j, "a number");
      } catch (const halfgrad::files::FormatError&) {
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const bool is_semicolon = (bytes[0] & 1) != 0, has_header = (bytes[0] & 2) == 0;
  const halfgrad::data::detail::CsvDialect dialect{.delimiter = is_semicolon ? ';' : ',',
                                                   .decimal = is_semicolon ? ',' : '.',
                                                   .missing = {"", "NA"}};
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  CsvText csv;
  try {
    csv = halfgrad::data::detail::parse_csv_text(text, "fuzz", dialect, has_header, {});
  } catch (const halfgrad::files::FormatError&) {
    return 0;
  }
  if (csv.fields.size() != csv.records() * csv.columns.size()) __builtin_trap();
  read_numbers(csv);
  expect_same(csv,
              halfgrad::data::detail::parse_csv_text(written(csv), "again", dialect, true, {}));
  return 0;
}
