#include <halfgrad/programs/terminal.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace programs {
namespace {

constexpr int kLongestLine = 100;  // longer ones are hard to read

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A word of a line and the spaces before it. A word that is wider than `columns` is split into
/// pieces, which end in | or , and have no space between them.
struct Word {
  std::string text;
  std::size_t spaces = 0;
};

std::vector<Word> words_of(std::string_view line, int columns) {
  std::vector<Word> words;
  std::size_t from = 0;
  for (std::size_t at = line.find_first_not_of(' '); at < line.size();) {
    std::size_t spaces = at - from;
    from = std::min(line.find(' ', at), line.size());
    std::string_view word = line.substr(at, from - at);
    while (width(word) > columns) {
      const std::size_t cut = word.find_last_of("|,", static_cast<std::size_t>(columns) - 1);
      if (cut == word.npos) break;
      words.push_back({std::string(word.substr(0, cut + 1)), std::exchange(spaces, 0)});
      word.remove_prefix(cut + 1);
    }
    if (!word.empty()) words.push_back({std::string(word), spaces});
    at = line.find_first_not_of(' ', from);
  }
  return words;
}

std::string wrapped_line(std::string_view line, int columns, int indent) {
  if (width(line) <= columns) return std::string(line);
  std::string result;
  int at = 0;
  bool begins_line = false;
  for (const Word& word : words_of(line, columns - indent)) {
    if (at > indent && at + static_cast<int>(word.spaces) + width(word.text) > columns) {
      result += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      at = indent;
      begins_line = true;
    }
    const std::string text = std::string(begins_line ? 0 : word.spaces, ' ') + word.text;
    result += text;
    at += width(text);
    begins_line = false;
  }
  return result;
}

}  // namespace

int columns() {
  const int chosen = std::atoi(environment("COLUMNS").c_str());
  if (chosen > 0) return chosen;
  if (isatty(STDOUT_FILENO) != 1) return kNoLimit;
  winsize size{};
  constexpr int kUsual = 80;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

bool can_redraw() { return isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb"; }

int width(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  return static_cast<int>(std::ssize(text) - std::ranges::count_if(text, continues));
}

std::string wrapped(const std::string& text, int columns, int indent) {
  const int most = std::max(columns, 2 * indent + 1);
  std::string result;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    result += wrapped_line(rest.substr(0, end), most, indent);
    if (end == rest.size()) return result;
    result += '\n';
    rest.remove_prefix(end + 1);
  }
}

void print_wrapped(const std::string& text, int indent) {
  fmt::print("{}", wrapped(text, std::min(columns(), kLongestLine), indent));
}

std::string fitted(std::vector<Segment> segments, int columns) {
  while (true) {
    std::string line;
    for (const Segment& segment : segments) line.append(line.empty() ? "" : "  ") += segment.text;
    const auto least = std::ranges::max_element(segments, {}, &Segment::rank);
    if (width(line) <= columns || least == segments.end() || least->rank == 0) return line;
    segments.erase(least);
  }
}

}  // namespace programs
