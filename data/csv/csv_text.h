#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/files/format_error.h>

/// The text of a CSV file, cut into records and fields.
namespace halfgrad::data::detail {

/// The characters that a file uses; see CsvOptions.
struct CsvDialect {
  char delimiter = ',';
  char decimal = '.';
  std::vector<std::string> missing = {};
};

/// Positions of a field in the text, quotes included.
struct CsvField {
  std::size_t begin, end;
};

struct CsvText {
  std::string text;
  std::string file;  ///< its name, for messages
  CsvDialect dialect = {};
  std::vector<std::string> columns = {};  ///< names
  std::vector<CsvField> fields = {};      ///< record by record, without the header
  std::vector<std::uint64_t> lines = {};  ///< line of each record's start, counted from 1

  std::size_t records() const { return lines.size(); }
  const CsvField& field(std::size_t record, std::size_t column) const {
    return fields[record * columns.size() + column];
  }
  /// Returns a field's text: without quotes, or without the spaces and tabs around it.
  std::string value(std::size_t record, std::size_t column) const;
  bool is_missing(std::size_t record, std::size_t column) const;
  /// Throws FormatError: `load_csv: expected <expected> in column "age", got "abc" (line 12) ...`.
  [[noreturn]] void refuse(std::size_t record, std::size_t column, const std::string& expected,
                           const std::string& fix = {}) const;
};

/// Cuts `text` into fields, and takes the first record as the names if `header`. Otherwise `names`
/// names the columns; they are "0", "1", ... if it is empty. Throws FormatError.
CsvText parse_csv_text(std::string text, std::string file, CsvDialect dialect, bool header,
                       std::vector<std::string> names);

/// Returns the number that `text` spells in decimal digits, rounded to double: 1e-400 is 0. Returns
/// nullopt for other text, for NaN and infinity, and for a number above the largest double.
std::optional<double> parse_number(std::string text, char decimal);

/// Returns the whole number that `text` spells, as 12 or 12.0, or nullopt.
std::optional<std::int64_t> parse_integer(const std::string& text, char decimal);

}  // namespace halfgrad::data::detail
