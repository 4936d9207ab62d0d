#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <halfgrad/files/byte_reader.h>

namespace halfgrad::io::detail {

/// A place in a header's text: what its readers have in common, whatever the grammar.
class TextCursor {
 public:
  /// `text` lies `origin` bytes into the file that `input` reports about.
  TextCursor(std::string_view text, const files::ByteReader& input, std::uint64_t origin)
      : text_(text), input_(input), origin_(origin) {}

  /// In the file, of the next token.
  std::uint64_t position();

  /// Passes white space, and then the character if it is there.
  bool skip(char wanted);
  /// The same; fails with bad_syntax if it is not.
  void expect(char wanted);

  bool at_digit();
  /// A number in decimal digits. Fails for leading zeros, and from 2^64 on.
  std::uint64_t digits();

  /// Fails unless only these are left.
  void expect_end(std::string_view padding);

  const files::ByteReader& input() const { return input_; }
  /// At this place, showing what stands there.
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
