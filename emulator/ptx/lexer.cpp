#include <halfgrad/emulator/ptx/lexer.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace halfgrad::emulator {
namespace {

enum CharacterClass : std::uint8_t { kOther = 0, kLetter = 1, kDigit = 2, kSpace = 4 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kLetter;
  for (unsigned c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  for (const char c : {'_', '$', '%'}) classes[static_cast<unsigned char>(c)] = kLetter;
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) {
    classes[static_cast<unsigned char>(c)] = kSpace;
  }
  return classes;
}();

bool is_class(char c, unsigned classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

bool continues_word(char c) { return is_class(c, kLetter | kDigit) && c != '%'; }

/// End of the number that begins at `at`: `0x1F`, `0f3F800000`, `12U`, `1.5e-3`.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const bool prefixed = text[at] == '0' && at + 1 < text.size() &&
                        is_class(text[at + 1], kLetter) && text[at + 1] != 'e' &&
                        text[at + 1] != 'E';
  for (++at; at < text.size(); ++at) {
    const char c = text[at], before = text[at - 1];
    const bool exponent = !prefixed && (before == 'e' || before == 'E') && (c == '-' || c == '+');
    if (!continues_word(c) && c != '.' && !exponent) break;
  }
  return at;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  const bool directive = text[at] == '.';
  for (++at; at < text.size(); ++at) {
    const char c = text[at];
    if (continues_word(c)) continue;
    if (c == '.' && !directive) continue;
    if (c == ':' && at + 1 < text.size() && text[at + 1] == ':') {
      ++at;
      continue;
    }
    break;
  }
  return at;
}

/// End of the string that begins at `at`, after its closing quote.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// End of the comment that begins at `at`, or `at` if none does.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text[at] != '/' || at + 1 >= text.size()) return at;
  if (text[at + 1] == '/') return std::min(text.find('\n', at), text.size());
  if (text[at + 1] != '*') return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

std::uint32_t lines_in(std::string_view text) {
  return static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void fail_at_line(std::uint32_t line, const std::string& what) {
  throw std::runtime_error("line " + std::to_string(line) + ": " + what);
}

Lexer::Lexer(std::string_view text, std::size_t begin, std::uint32_t line)
    : text_(text), at_(begin), taken_end_(begin), line_(line) {
  advance();
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_class(c, kSpace)) {
      line_ += c == '\n';
      ++at_;
      continue;
    }
    const std::size_t end = end_of_comment(text_, at_);
    if (end == at_) return;
    line_ += lines_in(text_.substr(at_, end - at_));
    at_ = end;
  }
}

void Lexer::advance() {
  skip_space();
  ahead_ = {TokenKind::end, {}, at_, line_};
  if (at_ >= text_.size()) return;
  const char c = text_[at_];
  std::size_t end = at_ + 1;
  if (is_class(c, kDigit)) {
    ahead_.kind = TokenKind::number;
    end = end_of_number(text_, at_);
  } else if (is_class(c, kLetter) || c == '.') {
    ahead_.kind = TokenKind::word;
    end = end_of_word(text_, at_);
  } else if (c == '"') {
    ahead_.kind = TokenKind::string;
    end = end_of_string(text_, at_);
    line_ += lines_in(text_.substr(at_, end - at_));
  } else {
    ahead_.kind = TokenKind::symbol;
  }
  ahead_.text = text_.substr(at_, end - at_);
  at_ = end;
}

Token Lexer::take() {
  const Token token = ahead_;
  taken_end_ = at_;
  advance();
  return token;
}

bool Lexer::accept(std::string_view text) {
  if (!is(text)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail("'" + std::string(text) + "'");
}

std::string_view Lexer::expect_word(const char* what) {
  if (!is_word()) fail(what);
  return take().text;
}

void Lexer::skip_past(std::string_view text) {
  while (!accept(text)) {
    if (at_end()) fail("'" + std::string(text) + "'");
    take();
  }
}

void Lexer::skip_braces() {
  if (!is("{")) fail("'{'");
  std::size_t depth = 1;
  const std::size_t begin = at_;
  for (std::size_t at = begin; at < text_.size(); ++at) {
    switch (text_[at]) {
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) {
          line_ += lines_in(text_.substr(begin, at - begin));
          at_ = taken_end_ = at + 1;
          advance();
          return;
        }
        break;
      case '"':
        at = end_of_string(text_, at) - 1;
        break;
      case '/':
        at = std::max(at, end_of_comment(text_, at) - 1);
        break;
      default:
        break;
    }
  }
  fail_at_line(ahead_.line, "expected a '}' for this '{'");
}

void Lexer::fail(const std::string& what) const {
  const std::string got =
      at_end() ? "the end of the text" : "'" + std::string(ahead_.text.substr(0, 60)) + "'";
  fail_at_line(ahead_.line, "expected " + what + ", got " + got);
}

}  // namespace halfgrad::emulator
