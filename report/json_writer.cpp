#include <halfgrad/report/json_writer.h>

#include <charconv>
#include <cmath>

namespace halfgrad::report {
namespace {

template <class T>
std::string decimal(T value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

constexpr std::string_view kReplacement =
    "\xef\xbf\xbd";  // U+FFFD, in the place of an invalid byte

// The length of the character beyond ASCII with which `text` begins, or 0 if it is not UTF-8 (RFC
// 3629: 2 to 4 bytes, the shortest encoding, no surrogates, at most U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
  }
  const unsigned two = first << 8 | byte(1);
  const bool is_overlong = (length == 3 && two < 0xe0a0) || (length == 4 && two < 0xf090);
  const bool is_surrogate = two >= 0xeda0 && two <= 0xedbf;
  return is_overlong || is_surrogate || two >= 0xf490 ? 0 : length;
}

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  quote(value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  separate();
  out_ += decimal(value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  separate();
  out_ += std::isfinite(value) ? decimal(value) : "null";
  return *this;
}

JsonWriter& JsonWriter::rounded(double value) {
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow)) return real(value);
  separate();
  out_ += decimal(narrow);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

void JsonWriter::quote(std::string_view value) {
  constexpr const char* kHex = "0123456789abcdef";
  out_ += '"';
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) {
      const std::size_t length = utf8_length(value.substr(i));
      out_ += length > 0 ? value.substr(i, length) : kReplacement;
      i += length > 0 ? length - 1 : 0;
    } else if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (code < 0x20 || c == '<') {
      out_ += "\\u00";
      out_ += kHex[code >> 4];
      out_ += kHex[code & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

}  // namespace halfgrad::report
