#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <halfgrad/io/text_cursor.h>

namespace halfgrad::io::detail {

/// Reads JSON (RFC 8259) of a known structure: the caller says what must come next, so nothing
/// recurses and nothing is skipped. Refuses a name that comes twice in an object.
class JsonReader : public TextCursor {
 public:
  using TextCursor::TextCursor;  // the text is valid UTF-8

  /// Calls member(name) for each; it must read the value.
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

  /// Calls element() for each; it must read it.
  template <class F>
  void array(const F& element) {
    list('[', ']', "an array", element);
  }

  std::string string();
  /// A whole number on [0, 2^64).
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

/// The text as a JSON string, in quotes; all but quotes, backslashes and controls as it is.
std::string json_quoted(std::string_view text);

}  // namespace halfgrad::io::detail
