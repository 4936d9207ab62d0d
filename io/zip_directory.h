#pragma once

#include <cstdint>

#include <halfgrad/files/byte_reader.h>

namespace halfgrad::io::detail {

/// The directory of an archive, which lists the headers of all members.
struct ZipDirectory {
  std::uint64_t start, size;  ///< byte offset, and size in bytes
  std::uint64_t members;      ///< at most as many as headers fit into `size`
  std::uint64_t end;          ///< byte offset of the end record that follows
};

/// Reads the end record, or zip64's. `input` starts at the first byte of the archive.
ZipDirectory find_zip_directory(const files::ByteReader& input);

[[noreturn]] void refuse_archive_in_parts(const files::ByteReader& record);

}  // namespace halfgrad::io::detail
