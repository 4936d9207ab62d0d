#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <halfgrad/files/byte_reader.h>

namespace halfgrad::io::detail {

/// A position in a header's text, with the operations that the readers of all grammars share.
class TextCursor {
 public:
  /// `text` starts at byte `origin` of the file; errors go through `input`.
  TextCursor(std::string_view text, const files::ByteReader& input, std::uint64_t origin)
      : text_(text), input_(input), origin_(origin) {}

  /// Byte offset of the next token in the file.
  std::uint64_t position();

  /// Skips white space, then the character `wanted`; returns false if another one follows.
  bool skip(char wanted);
  /// Calls skip(); fails with bad_syntax if another character follows.
  void expect(char wanted);

  bool at_digit();
  /// Reads decimal digits. Fails for leading zeros, and for 2^64 or more.
  std::uint64_t digits();

  /// Fails unless the rest of the text consists of `padding` characters.
  void expect_end(std::string_view padding);

  const files::ByteReader& input() const { return input_; }
  /// Throws a FormatError at this position, which quotes the text that follows.
  [[noreturn]] void fail(files::FormatCode code, const std::string& expected) const;

 protected:
  std::string_view rest() const { return text_.substr(at_); }
  void advance(std::size_t count) { at_ += count; }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

 private:
  std::string_view text_;
  const files::ByteReader& input_;
  std::uint64_t origin_;
  std::size_t at_ = 0;
};

}  // namespace halfgrad::io::detail
