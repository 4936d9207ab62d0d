#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <halfgrad/io/text_cursor.h>

namespace halfgrad::io::detail {

/// Reads JSON (RFC 8259) of a known structure: the caller says what must come next, so the reader
/// never recurses or skips a value. Fails if a name occurs twice in an object.
class JsonReader : public TextCursor {
 public:
  using TextCursor::TextCursor;  // the text is valid UTF-8

  /// Calls member(name) for each member of an object; it must read the value.
  template <class F>
  void object(const F& member) {
    std::set<std::string> names;
    list('{', '}', "an object", [&] {
      const std::uint64_t start = position();
      const std::string name = string();
      if (!names.insert(name).second) {
        input().fail_at(start, files::FormatCode::duplicate_name, "each name once in an object",
                        '"' + name + "\" twice");
      }
      expect(':');
      member(name);
    });
  }

  /// Calls element() for each element of an array; it must read the element.
  template <class F>
  void array(const F& element) {
    list('[', ']', "an array", element);
  }

  std::string string();
  /// Reads a whole number in [0, 2^64).
  std::uint64_t integer();

 private:
  template <class F>
  void list(char open, char close, const char* what, const F& element) {
    begin_value(open, what);
    if (skip(close)) return;
    do element();
    while (skip(','));
    expect(close);
  }

  void begin_value(char first, const char* what);
  [[noreturn]] void refuse_value(const char* what);
  char32_t escape();
  std::uint32_t four_hex_digits();
};

/// Returns the text as a quoted JSON string; escapes quotes, backslashes and control characters.
std::string json_quoted(std::string_view text);

}  // namespace halfgrad::io::detail
