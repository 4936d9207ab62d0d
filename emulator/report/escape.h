#pragma once

#include <string>
#include <string_view>

namespace halfgrad::emulator {

/// Text for HTML and XML, in elements and in attributes.
inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        const bool printable = static_cast<unsigned char>(c) >= 32 || c == '\n' || c == '\t';
        result += printable ? c : '?';
    }
  }
  return result;
}

}  // namespace halfgrad::emulator
