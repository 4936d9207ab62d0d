#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// Which rule a file breaks. The formats share the list.
enum class FormatCode : std::uint8_t {
  unreadable,           ///< the system does not give the bytes
  truncated,            ///< it ends before what it announces
  trailing_bytes,       ///< it goes on behind its end
  bad_magic,            ///< it does not begin as its format does
  unsupported_version,  ///< of the format
  header_too_large,
  bad_text,            ///< not UTF-8
  bad_syntax,          ///< the header is not in its format's grammar
  duplicate_name,      ///< of a tensor, field or member
  bad_name,            ///< of a member: not one that a file may have
  missing_field,       ///< of an entry
  unknown_field,       ///< of an entry
  bad_value,           ///< a field's, of another kind than it must have
  unknown_dtype,       ///< no such type in the format
  unsafe_dtype,        ///< reading it would run code
  no_such_dtype,       ///< a type of the format that halfgrad has not
  bad_shape,           ///< a negative size, or too many of them
  size_overflow,       ///< sizes whose product no machine holds
  size_mismatch,       ///< shape and number of bytes differ
  bad_offsets,         ///< reversed, or outside the file
  gap,                 ///< bytes that belong to nothing
  overlap,             ///< bytes that belong to two things
  corrupt_stream,      ///< compressed data that cannot be unpacked
  bad_checksum,        ///< the bytes are not those that were written
  bomb,                ///< it unpacks to more than it says, or than deflate can reach
  unsupported_method,  ///< of compression, or several disks
  encrypted,
  read_only,       ///< memory that must not be written
  no_such_device,  ///< memory on a device that this process cannot use
};

/// "bad_magic"
std::string_view name(FormatCode code);

/// Where a file breaks a rule.
struct FormatFault {
  FormatCode code;
  std::uint64_t offset;  ///< of the byte in the file, or in what it unpacks to
  std::string expected, got;
  std::string fix = {};  ///< what its owner can do; empty where nothing but another file helps
};

/// A file that cannot be read. what() is "read_idx: expected ..., got ... in FILE at byte N; FIX",
/// and "read_idx: expected a file, got no such file: FILE" for one that is not there.
class FormatError : public std::runtime_error {
 public:
  /// `reader` is the function that gives up, `file` what it was reading.
  FormatError(const std::string& reader, const std::string& file, FormatFault fault);

  FormatCode code() const { return fault_.code; }
  std::uint64_t offset() const { return fault_.offset; }
  const std::string& fix() const { return fault_.fix; }

 private:
  FormatFault fault_;
};

}  // namespace halfgrad::files
