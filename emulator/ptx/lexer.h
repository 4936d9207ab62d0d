#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halfgrad::emulator {

/// Throws std::runtime_error("line 12: " + what).
[[noreturn]] void fail_at_line(std::uint32_t line, const std::string& what);

enum class TokenKind : std::uint8_t { word, number, string, symbol, end };

/// A token, as a view of the PTX text.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::size_t begin = 0;  ///< position in the PTX text
  std::uint32_t line = 1;
};

/// Splits PTX text into tokens (PTX ISA, "Source Format"). Comments and white space separate
/// tokens.
///
/// A word contains its dots and double colons (`ld.global.L2::128B`, `%tid.x`), unless it begins
/// with a dot: `.reg.b32` is two words, as directives may be written without spaces.
class Lexer {
 public:
  explicit Lexer(std::string_view text, std::size_t begin = 0, std::uint32_t line = 1);

  const Token& ahead() const { return ahead_; }
  Token take();
  bool is(std::string_view text) const {
    return ahead_.text == text && ahead_.kind != TokenKind::string && ahead_.kind != TokenKind::end;
  }
  bool is_word() const { return ahead_.kind == TokenKind::word; }
  bool at_end() const { return ahead_.kind == TokenKind::end; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string_view expect_word(const char* what);

  /// Skips all tokens up to `text` and that one.
  void skip_past(std::string_view text);
  /// Skips `{ ... }` with the braces in it, without making tokens. The next token is its `{`.
  void skip_braces();

  /// Position after the last token that was taken.
  std::size_t position() const { return taken_end_; }
  std::string_view text() const { return text_; }

  /// Throws "line N: expected <what>, got '<next token>'".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void advance();
  void skip_space();

  std::string_view text_;
  std::size_t at_, taken_end_;
  std::uint32_t line_;
  Token ahead_;
};

}  // namespace halfgrad::emulator
