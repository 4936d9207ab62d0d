#include <halfgrad/data/csv.h>

#include <set>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/data/csv/csv_text.h>
#include <halfgrad/files/read_file.h>

namespace halfgrad::data {
namespace {

using halfgrad::detail::fail;

void check_options(const CsvOptions& options) {
  const std::string_view reserved = "\"\n\r";
  const std::string delimiter(1, options.delimiter), decimal(1, options.decimal);
  if (reserved.find(options.delimiter) != std::string_view::npos) {
    fail("load_csv", "expected a delimiter other than a quote and a line end, got {}", delimiter);
  }
  if (options.decimal != '.' && options.decimal != ',') {
    fail("load_csv", "expected . or , as decimal, got {}", decimal);
  }
  if (options.delimiter == options.decimal) {
    fail("load_csv", "expected a delimiter other than the decimal, got {} for both", decimal);
  }
  if (options.header && !options.names.empty()) {
    fail("load_csv", "expected names only for a file without a header, got {}; set header = false",
         options.names.size());
  }
  if (std::set(options.names.begin(), options.names.end()).size() != options.names.size()) {
    fail("load_csv", "expected a name for each column, got one twice among {}",
         options.names.size());
  }
}

/// Compressed files are common, and their bytes would only give an error about zero bytes.
void refuse_gzip(const std::string& text, const std::string& name) {
  if (!text.starts_with("\x1F\x8B")) return;
  throw files::FormatError(
      "load_csv", name,
      {files::FormatCode::bad_magic, 0, "text", "a gzip file", "unpack it with gunzip first"});
}

Table parse(std::string text, const std::string& name, const CsvOptions& options) {
  refuse_gzip(text, name);
  return Table(std::make_shared<const detail::CsvText>(detail::parse_csv_text(
      std::move(text), name,
      {.delimiter = options.delimiter, .decimal = options.decimal, .missing = options.missing},
      options.header, options.names)));
}

}  // namespace

Table load_csv(const std::filesystem::path& path, const CsvOptions& options) {
  check_options(options);
  return parse(files::read_file<std::string>(path, "load_csv"), path.string(), options);
}

Table parse_csv(std::span<const std::byte> bytes, const std::string& name,
                const CsvOptions& options) {
  check_options(options);
  return parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), name,
               options);
}

}  // namespace halfgrad::data
