#include <halfgrad/programs/table.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <halfgrad/programs/terminal.h>

namespace programs {
namespace {

constexpr int kGap = 2;

/// Splits a header into its upper and its lower line. A single line is the lower one.
std::pair<std::string, std::string> lines_of(const std::string& header) {
  const std::size_t end = header.find('\n');
  if (end == header.npos) return {"", header};
  return {header.substr(0, end), header.substr(end + 1)};
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

}  // namespace

Table::Table(std::vector<Column> columns, int indent)
    : columns_(std::move(columns)), is_shown_(columns_.size(), true), indent_(indent) {
  for (Column& column : columns_) {
    const auto [upper, lower] = lines_of(column.header);
    column.width = std::max({column.width, programs::width(upper), programs::width(lower)});
  }
  while (total_width() > programs::columns()) {
    std::size_t last = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const int rank = is_shown_[i] ? columns_[i].rank : 0;
      if (rank > (last == columns_.size() ? 0 : columns_[last].rank)) last = i;
    }
    if (last == columns_.size()) return;
    is_shown_[last] = false;
  }
}

int Table::total_width() const {
  int total = indent_ - kGap;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (is_shown_[i]) total += columns_[i].width + kGap;
  }
  return total;
}

void Table::print_row(const std::vector<std::string>& cells) const {
  std::string line = spaces(indent_ - kGap);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!is_shown_[i]) continue;
    const std::string padding = spaces(columns_[i].width - width(cells[i]));
    line += spaces(line.empty() && indent_ == 0 ? 0 : kGap);
    line += columns_[i].is_text ? cells[i] + padding : padding + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
}

void Table::print_header() const {
  std::vector<std::string> upper, lower;
  for (const Column& column : columns_) {
    const auto [first, second] = lines_of(column.header);
    upper.push_back(first);
    lower.push_back(second);
  }
  const auto is_empty = [](const std::string& text) { return text.empty(); };
  if (!std::ranges::all_of(upper, is_empty)) print_row(upper);
  print_row(lower);
}

void Table::print_left_out() const {
  std::string names;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (is_shown_[i]) continue;
    std::string name = columns_[i].header;
    std::ranges::replace(name, '\n', ' ');
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return;
  const std::string text =
      fmt::format("{}Columns left out, the terminal is too narrow: {}.\n", spaces(indent_), names);
  print_wrapped(text, indent_);
}

}  // namespace programs
