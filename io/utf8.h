#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <halfgrad/core/language.h>

namespace halfgrad::io::detail {

/// Returns the length of the longest valid prefix: text.size() for valid UTF-8 (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t valid_utf8_prefix(std::string_view text);

void append_utf8(std::string& text, char32_t point);

}  // namespace halfgrad::io::detail
