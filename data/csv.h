#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/data/table.h>

/// Reads tables of comma-separated values, the format that spreadsheets and pandas export.
namespace halfgrad::data {

struct CsvOptions {
  char delimiter = ',';  ///< between fields; a tab and ';' are common, too
  char decimal = '.';    ///< the decimal point: 3.14, or 3,14 with ','
  bool header = true;    ///< whether the first record names the columns
  /// Names for the columns of a file without a header. When empty, they are "0", "1", "2", ...
  std::vector<std::string> names = {};
  /// The texts that stand for a missing value, in quotes or not.
  std::vector<std::string> missing = {"", "NA", "N/A", "NaN", "nan", "NULL", "null"};
};

/// Reads a file as RFC 4180 defines it. A field in quotes may contain delimiters, line ends, and
/// "" for a quote. Lines end in LF, CR LF or CR. Beyond the RFC, it skips empty lines and a byte
/// order mark, and removes spaces and tabs around a field without quotes. The text is not
/// interpreted: Table's functions say what each column means.
///
/// Throws FormatError, which names the line, for a record whose number of fields differs from the
/// first one's, a quote in the middle of a field or without an end, two columns of one name, a file
/// without a header, and zero bytes (UTF-16). Throws std::invalid_argument for options that
/// contradict each other. The file and 16 bytes for each field stay in memory.
Table load_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// Reads bytes in memory as load_csv() reads a file; messages call them `name`.
Table parse_csv(std::span<const std::byte> bytes, const std::string& name = "memory",
                const CsvOptions& options = {});

}  // namespace halfgrad::data
