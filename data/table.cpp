#include <halfgrad/data/table.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <utility>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/data/csv/csv_text.h>

namespace halfgrad::data {
namespace {

using detail::CsvText;

void refuse_missing(const CsvText& csv, std::size_t row, std::size_t column,
                    const std::string& expected, const std::string& fix) {
  if (csv.is_missing(row, column)) csv.refuse(row, column, expected, fix);
}

float float_at(const CsvText& csv, std::size_t row, std::size_t column,
               const FloatOptions& options) {
  if (options.missing && csv.is_missing(row, column)) return static_cast<float>(*options.missing);
  const auto number = detail::parse_number(csv.value(row, column), csv.dialect.decimal);
  if (!number) {
    refuse_missing(csv, row, column, "a number",
                   "drop such rows by without_missing(), or pass {.missing = VALUE}");
    csv.refuse(row, column, "a number",
               "name the text of missing values in CsvOptions::missing, and a comma for a decimal "
               "point in CsvOptions::decimal");
  }
  const auto value = static_cast<float>(*number);
  if (!std::isfinite(value)) csv.refuse(row, column, "a number that float32 can hold");
  return value;
}

/// Sorts texts and keeps each once.
void sort_once(std::vector<std::string>& texts) {
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

/// Lists the names of the columns for a message.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + '"';
  return files::cut(text);
}

void print_column(std::ostream& out, const CsvText& csv, const std::vector<std::size_t>& rows,
                  std::size_t column) {
  constexpr std::size_t kShown = 5;
  std::size_t missing = 0, numbers = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::vector<std::string> texts;
  for (const std::size_t row : rows) {
    if (csv.is_missing(row, column)) {
      ++missing;
      continue;
    }
    texts.push_back(csv.value(row, column));
    const auto number = detail::parse_number(texts.back(), csv.dialect.decimal);
    if (!number) continue;
    ++numbers;
    low = std::min(low, *number);
    high = std::max(high, *number);
  }
  const bool is_number = numbers > 0 && numbers == texts.size();
  sort_once(texts);
  out << "  " << csv.columns[column] << ": ";
  if (is_number) {
    out << "numbers from " << low << " to " << high;
  } else {
    out << texts.size() << (texts.size() == 1 ? " text" : " different texts");
    for (std::size_t i = 0; i < std::min(texts.size(), kShown); ++i) {
      out << (i == 0 ? ": " : ", ") << files::cut(texts[i]);
    }
    if (texts.size() > kShown) out << ", ...";
  }
  if (missing > 0) out << "; " << missing << " missing";
  out << '\n';
}

}  // namespace

Table::Table(std::shared_ptr<const CsvText> text)
    : text_(std::move(text)), rows_(text_->records()) {
  std::iota(rows_.begin(), rows_.end(), std::size_t{0});
}

const std::vector<std::string>& Table::columns() const { return text_->columns; }

std::size_t Table::position(const std::string& column) const {
  const auto& names = columns();
  const auto found = std::ranges::find(names, column);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const bool is_cut_wrongly = names.size() == 1 && names[0].find_first_of(";\t|") != names[0].npos;
  halfgrad::detail::fail("Table", "expected a column out of {}, got \"{}\"{}", listed(names),
                         column, is_cut_wrongly ? "; set CsvOptions::delimiter" : "");
}

Tensor Table::floats(const std::vector<std::string>& columns, FloatOptions options) const {
  if (columns.empty()) halfgrad::detail::fail("Table", "expected names of columns, got none");
  std::vector<std::size_t> positions;
  for (const std::string& column : columns) positions.push_back(position(column));
  std::vector<float> values;
  values.reserve(rows_.size() * positions.size());
  for (const std::size_t row : rows_) {
    for (const std::size_t column : positions) {
      values.push_back(float_at(*text_, row, column, options));
    }
  }
  return tensor(values, {size(), std::ssize(positions)});
}

Tensor Table::integers(const std::string& column) const {
  const std::size_t at = position(column);
  std::vector<std::int64_t> values;
  for (const std::size_t row : rows_) {
    const auto value = detail::parse_integer(text_->value(row, at), text_->dialect.decimal);
    if (!value) {
      refuse_missing(*text_, row, at, "a whole number", "drop such rows by without_missing()");
      text_->refuse(row, at, "a whole number",
                    "use categories() for names of classes, and floats() for fractions");
    }
    values.push_back(*value);
  }
  return tensor(values, {size()});
}

Categories Table::categories(const std::string& column) const {
  const std::size_t at = position(column);
  for (const std::size_t row : rows_) {
    refuse_missing(*text_, row, at, "a category",
                   "drop such rows by without_missing(), or take its text out of "
                   "CsvOptions::missing to make it a category");
  }
  std::vector<std::string> names = texts(column);
  sort_once(names);
  return {categories(column, names), names};
}

Tensor Table::categories(const std::string& column, const std::vector<std::string>& names) const {
  const std::size_t at = position(column);
  std::vector<std::pair<std::string, std::int64_t>> sorted;
  for (const std::string& name : names) sorted.emplace_back(name, std::ssize(sorted));
  std::ranges::sort(sorted);
  std::vector<std::int64_t> indices;
  for (const std::size_t row : rows_) {
    const std::string value = text_->value(row, at);
    const auto found = std::ranges::lower_bound(
        sorted, value, {}, [](const auto& entry) { return std::string_view(entry.first); });
    if (found == sorted.end() || found->first != value) {
      text_->refuse(row, at, "a category out of " + listed(names));
    }
    indices.push_back(found->second);
  }
  return tensor(indices, {size()});
}

Tensor Table::is_missing(const std::string& column) const {
  const std::size_t at = position(column);
  std::vector<std::uint8_t> values;
  for (const std::size_t row : rows_) values.push_back(text_->is_missing(row, at) ? 1 : 0);
  return tensor(values, {size()}).to(kBool);
}

std::vector<std::string> Table::texts(const std::string& column) const {
  const std::size_t at = position(column);
  std::vector<std::string> values;
  for (const std::size_t row : rows_) values.push_back(text_->value(row, at));
  return values;
}

Table Table::without_missing(const std::vector<std::string>& columns) const {
  std::vector<std::size_t> positions;
  for (const std::string& column : columns.empty() ? this->columns() : columns) {
    positions.push_back(position(column));
  }
  Table result = *this;
  std::erase_if(result.rows_, [&](std::size_t row) {
    return std::ranges::any_of(positions,
                               [&](std::size_t at) { return text_->is_missing(row, at); });
  });
  return result;
}

std::ostream& operator<<(std::ostream& out, const Table& table) {
  out << table.size() << (table.size() == 1 ? " row" : " rows") << '\n';
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    print_column(out, *table.text_, table.rows_, i);
  }
  return out;
}

}  // namespace halfgrad::data
