#include <halfgrad/io/utf8.h>

namespace halfgrad::io::detail {
namespace {

/// Number of bytes that follow a first byte, and the range of the second one (RFC 3629, section 4).
struct Sequence {
  int following;
  unsigned char low = 0x80, high = 0xBF;
};

Sequence sequence(unsigned char first) {
  if (first < 0x80) return {0};
  if (first >= 0xC2 && first <= 0xDF) return {1};
  if (first == 0xE0) return {2, 0xA0, 0xBF};
  if (first == 0xED) return {2, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {2};
  if (first == 0xF0) return {3, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {3};
  if (first == 0xF4) return {3, 0x80, 0x8F};
  return {-1};
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t at = 0;
  while (at < text.size()) {
    const auto [following, low, high] = sequence(byte(at));
    if (following < 0 || at + following >= text.size()) return at;
    for (int i = 1; i <= following; ++i) {
      const unsigned char least = i == 1 ? low : 0x80, most = i == 1 ? high : 0xBF;
      if (byte(at + i) < least || byte(at + i) > most) return at;
    }
    at += 1 + following;
  }
  return at;
}

void append_utf8(std::string& text, char32_t point) {
  const auto continued = [&](int shift) {
    text += static_cast<char>(0x80 | (point >> shift & 0x3F));
  };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | point >> 6);
    continued(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | point >> 12);
    continued(6);
    continued(0);
  } else {
    text += static_cast<char>(0xF0 | point >> 18);
    continued(12);
    continued(6);
    continued(0);
  }
}

}  // namespace halfgrad::io::detail
