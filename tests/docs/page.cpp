#include "page.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

namespace halfgrad::tests {
namespace {

// The path in a line that ends in "[`path`](link):".
std::optional<std::string> quoted_file(const std::string& line) {
  const auto begin = line.rfind("[`");
  const auto end = line.rfind("`](");
  if (!line.ends_with("):") || begin == std::string::npos || end < begin) return std::nullopt;
  return line.substr(begin + 2, end - begin - 2);
}

// The text without the numbers of its numbered lists.
std::string without_list_numbers(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find_first_not_of("0123456789");
    const bool is_item = end != 0 && end != std::string::npos && line.compare(end, 2, ". ") == 0;
    result += (is_item ? line.substr(end + 2) : line) + "\n";
  }
  return result;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(HALFGRAD_SOURCE_DIR "/") + path);
  EXPECT_TRUE(file) << path << ": expected a file, got none";
  return {std::istreambuf_iterator<char>(file), {}};
}

bool file_exists(const std::string& path) {
  return std::filesystem::exists(std::string(HALFGRAD_SOURCE_DIR "/") + path);
}

std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string shown(double x, int digits) {
  char text[64];
  const bool is_integer = x == std::round(x) && std::abs(x) < 1e7;
  if (is_integer) {
    std::snprintf(text, sizeof text, "%.0f", x);
  } else {
    std::snprintf(text, sizeof text, "%.*g", digits, x);
  }
  std::string result = text;
  const auto exponent = result.find('e');
  if (exponent == std::string::npos) return result;
  const auto first = result.find_first_not_of("+-0", exponent + 1);
  const std::string sign = result[exponent + 1] == '-' ? "-" : "";
  return result.substr(0, exponent + 1) + sign + result.substr(first);
}

std::string as_power(double x) {
  const int exponent = std::ilogb(x);
  EXPECT_EQ(std::ldexp(1.0, exponent), x) << "expected a power of two";
  return "2^" + std::to_string(exponent);
}

std::string grouped(long long x) {
  std::string digits = std::to_string(x);
  for (std::size_t end = digits.size(); end > 3;) digits.insert(end -= 3, ",");
  return digits;
}

Page::Page(const std::string& path)
    : path_(path), text_(text_of(path)), unchecked_(one_line(without_list_numbers(text_))) {}

void Page::expect(const std::string& text) {
  const std::string line = one_line(text);
  const bool found = one_line(without_list_numbers(text_)).find(line) != std::string::npos;
  EXPECT_TRUE(found) << path_ << ": expected the text\n  " << line;
  for (auto at = unchecked_.find(line); at != std::string::npos; at = unchecked_.find(line)) {
    unchecked_.erase(at, line.size());
  }
}

void Page::expect_code(const std::string& program) {
  std::istringstream lines(text_);
  std::string block, source_path, before;
  std::string source;
  std::size_t at = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      if (inside) expect(block);
      block.clear();
      inside = !inside && line == "```cpp";
      if (!inside) continue;
      source_path = quoted_file(before).value_or(program);
      source = one_line(text_of(source_path));
      at = 0;
      continue;
    }
    if (!inside) {
      if (!line.empty()) before = line;
      continue;
    }
    block += line + "\n";
    const std::string code = one_line(line);
    if (code == "// ...") continue;
    const std::size_t found = source.find(code, at);
    EXPECT_NE(found, std::string::npos)
        << path_ << ": expected a line of " << source_path << ", got\n  " << code;
    if (found != std::string::npos) at = found + code.size();
  }
}

std::vector<std::string> Page::unchecked_numbers() const {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < unchecked_.size(); ++i) {
    if (!is_digit(unchecked_[i]) || (i > 0 && is_word(unchecked_[i - 1]))) continue;
    const std::size_t begin = i < 30 ? 0 : i - 30;
    numbers.push_back("..." + unchecked_.substr(begin, 60) + "...");
    while (i < unchecked_.size() && is_word(unchecked_[i])) ++i;
  }
  return numbers;
}

std::vector<std::string> Page::linked_files() const {
  std::vector<std::string> files;
  const auto folder = std::filesystem::path(path_).parent_path();
  for (auto at = text_.find("]("); at != std::string::npos; at = text_.find("](", at + 2)) {
    std::string target = text_.substr(at + 2, text_.find(')', at) - at - 2);
    target.resize(std::min(target.find('#'), target.size()));
    const bool is_code = target.find(' ') != std::string::npos;
    if (target.empty() || is_code || target.find("://") != std::string::npos) continue;
    files.push_back((folder / target).lexically_normal().string());
  }
  return files;
}

}  // namespace halfgrad::tests
