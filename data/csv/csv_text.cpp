#include <halfgrad/data/csv/csv_text.h>

#include <algorithm>
#include <set>
#include <utility>

namespace halfgrad::data::detail {
namespace {

using files::FormatCode;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// A text in quotes for a message: at most 60 bytes, so that the line after it is not cut off.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  if (text.size() <= kMost) return '"' + std::string(text) + '"';
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole UTF-8
  return '"' + std::string(text.substr(0, end)) + "...\"";
}

std::string value_of(std::string_view raw) {
  if (!raw.starts_with('"')) {
    const auto first = raw.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return std::string(raw.substr(first, raw.find_last_not_of(" \t") - first + 1));
  }
  std::string value;
  for (std::size_t i = 1; i + 1 < raw.size(); ++i) {
    value += raw[i];
    if (raw[i] == '"') ++i;  // "" stands for one quote
  }
  return value;
}

/// Walks through the text once, record by record.
class Reader {
 public:
  explicit Reader(CsvText& csv)
      : csv_(csv), position_(csv.text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0) {}

  /// Appends the fields of the next record; returns false at the end of the text.
  bool next(std::vector<CsvField>& fields) {
    while (!at_end() && at_line_end()) skip_line_end();
    if (at_end()) return false;
    start_ = position_;
    start_line_ = line_;
    fields.push_back(read_field());
    while (!at_end() && !at_line_end()) {
      ++position_;  // the delimiter
      fields.push_back(read_field());
    }
    return true;
  }

  std::uint64_t start_line() const { return start_line_; }

  /// Throws a FormatError about the record that was read last, or about another position.
  [[noreturn]] void refuse_record(FormatCode code, const std::string& expected,
                                  const std::string& got, const std::string& fix = {}) const {
    refuse(code, start_, start_line_, expected, got, fix);
  }
  [[noreturn]] void refuse(FormatCode code, std::size_t offset, std::uint64_t line,
                           const std::string& expected, const std::string& got,
                           const std::string& fix) const {
    throw files::FormatError(
        "load_csv", csv_.file,
        {code, offset, expected, got + " (line " + std::to_string(line) + ")", fix});
  }

 private:
  bool at_end() const { return position_ == csv_.text.size(); }
  char here() const { return csv_.text[position_]; }
  bool at_line_end() const { return here() == '\n' || here() == '\r'; }

  void skip_line_end() {
    const bool is_return = here() == '\r';
    ++position_;
    if (is_return && !at_end() && here() == '\n') ++position_;
    ++line_;
  }

  /// Leaves the position at the delimiter, the line end or the end of the text.
  CsvField read_field() {
    const std::size_t begin = position_;
    if (!at_end() && here() == '"') {
      skip_quoted();
      if (!at_end() && !at_line_end() && here() != csv_.dialect.delimiter) {
        refuse(FormatCode::bad_syntax, position_, line_, "the end of the field after its quote",
               in_quotes(std::string_view(csv_.text).substr(position_, 1)),
               "write \"\" for a quote within a field in quotes");
      }
      return {begin, position_};
    }
    for (; !at_end() && !at_line_end() && here() != csv_.dialect.delimiter; ++position_) {
      expect_text();
      if (here() == '"') {
        refuse(FormatCode::bad_syntax, position_, line_, "a quote only at the start of a field",
               in_quotes(std::string_view(csv_.text).substr(begin, position_ + 1 - begin)),
               "put the whole field in quotes, and write \"\" for a quote within it");
      }
    }
    return {begin, position_};
  }

  void skip_quoted() {
    const std::size_t begin = position_;
    const std::uint64_t line = line_;
    ++position_;
    while (!at_end()) {
      expect_text();
      if (at_line_end()) {
        skip_line_end();
        continue;
      }
      const bool is_quote = here() == '"';
      ++position_;
      if (!is_quote) continue;
      if (at_end() || here() != '"') return;
      ++position_;
    }
    refuse(FormatCode::bad_syntax, begin, line, "a quote at the end of the field",
           "the end of the file", "");
  }

  void expect_text() const {
    if (here() != '\0') return;
    refuse(FormatCode::bad_text, position_, line_, "text", "a zero byte",
           "save the file as UTF-8 text");
  }

  CsvText& csv_;
  std::size_t position_, start_ = 0;
  std::uint64_t line_ = 1, start_line_ = 1;
};

void take_header(CsvText& csv, const std::vector<CsvField>& fields, const Reader& reader) {
  std::set<std::string> seen;
  for (const CsvField& field : fields) {
    std::string name =
        value_of(std::string_view(csv.text).substr(field.begin, field.end - field.begin));
    if (!seen.insert(name).second) {
      reader.refuse_record(FormatCode::duplicate_name, "a name for each column",
                           in_quotes(name) + " twice");
    }
    csv.columns.push_back(std::move(name));
  }
}

void refuse_width(const CsvText& csv, const Reader& reader, std::size_t fields) {
  const bool is_one = csv.columns.size() == 1;
  reader.refuse_record(FormatCode::size_mismatch,
                       std::to_string(csv.columns.size()) + (is_one ? " field" : " fields"),
                       std::to_string(fields), "put a field that contains the delimiter in quotes");
}

}  // namespace

std::string CsvText::value(std::size_t record, std::size_t column) const {
  const auto [begin, end] = field(record, column);
  return value_of(std::string_view(text).substr(begin, end - begin));
}

bool CsvText::is_missing(std::size_t record, std::size_t column) const {
  return std::ranges::find(dialect.missing, value(record, column)) != dialect.missing.end();
}

void CsvText::refuse(std::size_t record, std::size_t column, const std::string& expected,
                     const std::string& fix) const {
  // A field in quotes may span lines, so the field can begin below its record.
  const auto begin = text.begin();
  const auto position = static_cast<std::ptrdiff_t>(field(record, column).begin);
  const auto first = static_cast<std::ptrdiff_t>(field(record, 0).begin);
  const auto line =
      lines[record] + static_cast<std::uint64_t>(std::count(begin + first, begin + position, '\n'));
  throw files::FormatError(
      "load_csv", file,
      {FormatCode::bad_value, static_cast<std::uint64_t>(position),
       expected + " in column " + in_quotes(columns[column]),
       in_quotes(value(record, column)) + " (line " + std::to_string(line) + ")", fix});
}

CsvText parse_csv_text(std::string text, std::string file, CsvDialect dialect, bool header,
                       std::vector<std::string> names) {
  CsvText csv{.text = std::move(text), .file = std::move(file), .dialect = std::move(dialect)};
  csv.columns = std::move(names);
  Reader reader(csv);
  std::vector<CsvField> first;
  const bool is_empty = !reader.next(first);
  if (is_empty && (header || csv.columns.empty())) {
    reader.refuse_record(FormatCode::truncated, "a record", "an empty file");
  }
  if (header) take_header(csv, first, reader);
  for (std::size_t i = 0; csv.columns.size() < first.size() && csv.columns.size() == i; ++i) {
    csv.columns.push_back(std::to_string(i));
  }
  if (!header && !is_empty) {
    if (first.size() != csv.columns.size()) refuse_width(csv, reader, first.size());
    csv.fields = first;
    csv.lines.push_back(reader.start_line());
  }
  for (std::size_t before = csv.fields.size(); reader.next(csv.fields);
       before = csv.fields.size()) {
    const std::size_t width = csv.fields.size() - before;
    if (width != csv.columns.size()) refuse_width(csv, reader, width);
    csv.lines.push_back(reader.start_line());
  }
  return csv;
}

}  // namespace halfgrad::data::detail
