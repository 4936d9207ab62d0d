#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <halfgrad/core/error.h>
#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// The rule that a file breaks. All formats share this list.
enum class FormatCode : std::uint8_t {
  unreadable,           ///< the system cannot read the file
  truncated,            ///< the file ends too early
  trailing_bytes,       ///< bytes follow the end of the data
  bad_magic,            ///< the first bytes are not those of the format
  unsupported_version,  ///< a version of the format that halfgrad does not read
  header_too_large,
  bad_text,            ///< not UTF-8
  bad_syntax,          ///< the header breaks the format's grammar
  duplicate_name,      ///< a tensor, field or member occurs twice
  bad_name,            ///< a member's name that is no valid relative path
  missing_field,       ///< an entry lacks a field
  unknown_field,       ///< an entry has a field that the format does not know
  bad_value,           ///< a field has a wrong type or value
  unknown_dtype,       ///< a type that the format does not know
  unsafe_dtype,        ///< a type whose elements run code when read
  no_such_dtype,       ///< a type of the format that halfgrad lacks
  bad_shape,           ///< a negative size, or too many dimensions
  size_overflow,       ///< sizes whose product exceeds 2^63 - 1
  size_mismatch,       ///< shape and number of bytes differ
  bad_offsets,         ///< reversed offsets, or offsets outside the file
  gap,                 ///< bytes that belong to no tensor
  overlap,             ///< two tensors or elements share memory
  corrupt_stream,      ///< compressed data that cannot be unpacked
  bad_checksum,        ///< the checksum of the data differs from the stored one
  bomb,                ///< unpacks to more bytes than announced, or than deflate can produce
  unsupported_method,  ///< an unknown compression, or an archive in several parts
  encrypted,
  too_large,       ///< more bytes than memory holds, or than the reader's option allows
  read_only,       ///< memory that must not be written
  no_such_device,  ///< memory on a device that this process cannot use
};

/// Returns the code as a word, such as "bad_magic".
std::string_view name(FormatCode code);

/// Returns a text of a file for a message: at most 200 bytes of it, followed by its size if it is
/// longer. Keeps characters of UTF-8 whole.
std::string cut(std::string text);

/// A broken rule and where the file breaks it.
struct FormatFault {
  FormatCode code;
  std::uint64_t offset;  ///< byte in the file, or in the unpacked data
  std::string expected, got;
  std::string fix = {};  ///< advice for the owner of the file; empty if there is none
};

/// The error about a file that cannot be read. what() is
///     read_idx: expected ..., got ... in FILE at byte N; FIX
///     read_idx: expected a file, got no such file: FILE
/// `expected` and `got` are cut.
class FormatError : public halfgrad::detail::Raised<std::runtime_error> {
 public:
  /// `reader` is the name of the function that fails, `file` the name of the file.
  FormatError(const std::string& reader, const std::string& file, FormatFault fault);

  FormatCode code() const { return fault_.code; }
  std::uint64_t offset() const { return fault_.offset; }
  const std::string& fix() const { return fault_.fix; }

 private:
  FormatFault fault_;
};

}  // namespace halfgrad::files
