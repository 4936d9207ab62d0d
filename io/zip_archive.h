#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/files/byte_reader.h>

/// Zip archives (PKWARE APPNOTE.TXT 6.3.10, sections 4.3 and 4.4) with members stored or deflated:
///
///   for each member    local header, name, extra fields, data
///   the directory      one header for each member, then the end record; zip64 has a second end
///                      record, and a locator for it, before the first
namespace halfgrad::io::detail {

/// A file in an archive that is read.
struct ZipMember {
  std::string name = {};
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint32_t crc = 0;     ///< checksum of the unpacked data
  std::uint64_t packed_size = 0, size = 0;
  std::uint64_t header_start = 0, data_start = 0;  ///< byte offsets in the file
};

/// Reads the directory and every local header. Checks everything that needs no unpacking.
std::vector<ZipMember> read_zip_directory(const files::ByteReader& input);

/// Returns a member's data, and checks its size and checksum. A stored member stays in the file.
files::ByteSource unpack(const ZipMember& member, const files::ByteReader& input);

/// True for a relative path of at most 65 535 bytes without empty parts, "." and "..", backslashes,
/// control characters or a drive, as in C:/a. Other colons are valid: TensorFlow writes kernel:0.
bool is_member_name(const std::string& name);

/// A file of an archive that is written.
struct ZipContents {
  std::string name;
  std::vector<std::span<const std::byte>> pieces;  ///< concatenated, they are the member's data
};

/// Returns an archive's headers: write part i, then the data of member i, and the last part at the
/// end. Sizes and offsets of at least `zip64_from` go to zip64's fields.
std::vector<std::string> format_zip(const std::vector<ZipContents>& members,
                                    std::uint64_t zip64_from = 0xFFFFFFFF);

}  // namespace halfgrad::io::detail
