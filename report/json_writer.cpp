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
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
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
