#include <halfgrad/io/json_reader.h>

#include <charconv>

#include <halfgrad/io/utf8.h>

namespace halfgrad::io::detail {

using files::FormatCode;

namespace {

/// The letters that may follow a backslash, and the characters that they mean.
constexpr std::string_view kLetters = "\"\\bfnrt", kMeanings = "\"\\\b\f\n\r\t";

}  // namespace

void JsonReader::begin_value(char first, const char* what) {
  if (!skip(first)) refuse_value(what);
}

void JsonReader::refuse_value(const char* what) {
  const bool is_other_value = rest().find_first_of("{[\"-0123456789tfn") == 0;
  fail(is_other_value ? FormatCode::bad_value : FormatCode::bad_syntax, what);
}

std::uint32_t JsonReader::four_hex_digits() {
  std::uint32_t value = 0;
  const std::string_view digits = rest().substr(0, 4);
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() < 4 || result.ptr != digits.data() + 4) {
    fail(FormatCode::bad_syntax, "four hexadecimal digits");
  }
  advance(4);
  return value;
}

char32_t JsonReader::escape() {
  const std::size_t letter = rest().empty() ? kLetters.npos : kLetters.find(rest().front());
  if (letter != kLetters.npos) {
    advance(1);
    return static_cast<unsigned char>(kMeanings[letter]);
  }
  if (rest().starts_with('/')) {  // valid JSON, although no writer needs it
    advance(1);
    return '/';
  }
  if (!rest().starts_with('u')) fail(FormatCode::bad_syntax, "an escape of JSON");
  advance(1);
  const std::uint32_t unit = four_hex_digits();
  if (unit < 0xD800 || unit > 0xDFFF) return unit;
  // UTF-16 encodes this character as a high surrogate followed by a low one.
  if (unit > 0xDBFF || !rest().starts_with("\\u")) {
    fail(FormatCode::bad_syntax, "surrogates in pairs");
  }
  advance(2);
  const std::uint32_t low = four_hex_digits();
  if (low < 0xDC00 || low > 0xDFFF) fail(FormatCode::bad_syntax, "surrogates in pairs");
  return 0x10000 + ((unit - 0xD800) << 10 | (low - 0xDC00));
}

std::string JsonReader::string() {
  begin_value('"', "a string");
  std::string result;
  while (!rest().empty() && rest().front() != '"') {
    const char c = rest().front();
    if (static_cast<unsigned char>(c) < 0x20) {
      fail(FormatCode::bad_syntax, "control characters of a string to be escaped");
    }
    advance(1);
    if (c == '\\') {
      append_utf8(result, escape());
    } else {
      result += c;
    }
  }
  if (rest().empty()) fail(FormatCode::bad_syntax, "the string's closing quote");
  advance(1);
  return result;
}

std::uint64_t JsonReader::integer() {
  constexpr const char* kWanted = "a whole number without sign, fraction or exponent";
  if (!at_digit()) refuse_value(kWanted);
  const std::uint64_t value = digits();
  if (!rest().empty() && std::string_view(".eE").find(rest().front()) != std::string_view::npos) {
    fail(FormatCode::bad_value, kWanted);
  }
  return value;
}

std::string json_quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (const std::size_t i = kMeanings.find(c); i != kMeanings.npos) {
      result += {'\\', kLetters[i]};
    } else if (code < 0x20) {
      result += {'\\', 'u', '0', '0', kHex[code >> 4], kHex[code & 0xF]};
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace halfgrad::io::detail
