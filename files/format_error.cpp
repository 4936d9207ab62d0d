#include <halfgrad/files/format_error.h>

#include <algorithm>
#include <utility>

namespace halfgrad::files {

std::string_view name(FormatCode code) {
  constexpr std::string_view names[] = {"unreadable",    "truncated",           "trailing_bytes",
                                        "bad_magic",     "unsupported_version", "header_too_large",
                                        "bad_text",      "bad_syntax",          "duplicate_name",
                                        "bad_name",      "missing_field",       "unknown_field",
                                        "bad_value",     "unknown_dtype",       "unsafe_dtype",
                                        "no_such_dtype", "bad_shape",           "size_overflow",
                                        "size_mismatch", "bad_offsets",         "gap",
                                        "overlap",       "corrupt_stream",      "bad_checksum",
                                        "bomb",          "unsupported_method",  "encrypted",
                                        "too_large",     "read_only",           "no_such_device"};
  return names[static_cast<int>(code)];
}

namespace {

/// Replaces control characters, so that a message can quote a file's text.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return text;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Names the file, and the byte of the fault unless the file could not be read at all.
std::string location(const std::string& file, const FormatFault& fault) {
  if (fault.code == FormatCode::unreadable) return ": " + file;
  return " in " + file + " at byte " + std::to_string(fault.offset);
}

}  // namespace

std::string cut(std::string text) {
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > kMost - 4 && continues_character(text[end])) --end;  // UTF-8 has at most 4 bytes
  return text.substr(0, end) + "... (" + std::to_string(text.size()) + " bytes)";
}

FormatError::FormatError(const std::string& reader, const std::string& file, FormatFault fault)
    : Raised(reader + ": expected " + cut(fault.expected) + ", got " + printable(cut(fault.got)) +
             location(file, fault) + (fault.fix.empty() ? "" : "; " + fault.fix)),
      fault_(std::move(fault)) {}

}  // namespace halfgrad::files
