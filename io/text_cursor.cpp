#include <halfgrad/io/text_cursor.h>

#include <algorithm>
#include <charconv>

namespace halfgrad::io::detail {

using files::FormatCode;

void TextCursor::fail(FormatCode code, const std::string& expected) const {
  const std::string got =
      rest().empty() ? "the end of the header" : '"' + std::string(rest().substr(0, 16)) + '"';
  input_.fail_at(origin_ + at_, code, expected, got);
}

std::uint64_t TextCursor::position() {
  skip_space();
  return origin_ + at_;
}

bool TextCursor::skip(char wanted) {
  skip_space();
  const bool found = rest().starts_with(wanted);
  at_ += found ? 1 : 0;
  return found;
}

void TextCursor::expect(char wanted) {
  if (!skip(wanted)) fail(FormatCode::bad_syntax, std::string("\"") + wanted + '"');
}

bool TextCursor::at_digit() {
  skip_space();
  return !rest().empty() && rest().front() >= '0' && rest().front() <= '9';
}

std::uint64_t TextCursor::digits() {
  std::uint64_t value = 0;
  const std::string_view text = rest();
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    fail(FormatCode::size_overflow, "a number below 2^64");
  }
  const std::size_t length = result.ptr - text.data();
  if (length == 0 || (length > 1 && text.front() == '0')) {
    fail(FormatCode::bad_syntax, "a number without leading zeros");
  }
  at_ += length;
  return value;
}

void TextCursor::expect_end(std::string_view padding) {
  at_ = std::min(text_.find_first_not_of(padding, at_), text_.size());
  if (!rest().empty()) fail(FormatCode::bad_syntax, "the end of the header");
}

}  // namespace halfgrad::io::detail
