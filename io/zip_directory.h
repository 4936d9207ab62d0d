#pragma once

#include <cstdint>

#include <halfgrad/files/byte_reader.h>

namespace halfgrad::io::detail {

/// Where the headers of an archive's members stand together.
struct ZipDirectory {
  std::uint64_t start, size;  ///< bytes
  std::uint64_t members;      ///< no more than headers can lie there
  std::uint64_t end;          ///< where the record begins that says so
};

/// From the end record, or zip64's. `input` is at the start of the archive.
ZipDirectory find_zip_directory(const files::ByteReader& input);

[[noreturn]] void refuse_archive_in_parts(const files::ByteReader& record);

}  // namespace halfgrad::io::detail
