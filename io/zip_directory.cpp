#include <halfgrad/io/zip_directory.h>

#include <algorithm>
#include <limits>
#include <string>

#include <halfgrad/io/zip_records.h>

namespace halfgrad::io::detail {
namespace {

using files::ByteReader;
using files::FormatCode;

constexpr std::uint64_t kMaxComment = 0xFFFF;

template <class... Ts>
bool any_full(Ts... fields) {
  return ((fields == std::numeric_limits<Ts>::max()) || ...);
}

/// Finds the end record. It is the last record of the file; only a comment, whose length it states,
/// may follow.
std::uint64_t find_end_record(const ByteReader& input, std::uint64_t file_size) {
  if (file_size >= kEndRecordSize) {
    const std::uint64_t last = file_size - kEndRecordSize;
    for (std::uint64_t at = last + 1; at-- > last - std::min(last, kMaxComment);) {
      ByteReader record = input.from(at);
      if (next<std::uint32_t>(record) != kEndRecord) continue;
      record = input.from(at + kEndRecordSize - 2);
      if (next<std::uint16_t>(record) == last - at) return at;
    }
  }
  const bool begins_well = file_size >= 4 && [&] {
    ByteReader start = input.from(0);
    return next<std::uint32_t>(start) == kLocalHeader;
  }();
  input.fail_at(0, begins_well ? FormatCode::truncated : FormatCode::bad_magic,
                "a zip archive with its directory at the end", "none");
}

ZipDirectory read_zip64_end(const ByteReader& input, std::uint64_t end_record) {
  if (end_record < kZip64LocatorSize) {
    input.fail_at(end_record, FormatCode::truncated, "zip64's locator", "the start of the file");
  }
  ByteReader locator = input.from(end_record - kZip64LocatorSize);
  if (next<std::uint32_t>(locator) != kZip64Locator) {
    locator.fail(FormatCode::bad_syntax, "zip64's locator before the end record", "none");
  }
  const auto disk = next<std::uint32_t>(locator);
  const auto start = next<std::uint64_t>(locator);
  if (disk != 0 || next<std::uint32_t>(locator) != 1) refuse_archive_in_parts(locator);
  if (start > end_record - kZip64LocatorSize) {
    locator.fail(FormatCode::bad_offsets, "zip64's end record before its locator",
                 std::to_string(start));
  }
  ByteReader record = input.from(start);
  if (next<std::uint32_t>(record) != kZip64EndRecord) {
    record.fail(FormatCode::bad_offsets, "zip64's end record", "other bytes");
  }
  record.skip(8 + 2 + 2, "a zip record");  // record size, version made by, version needed
  const auto this_disk = next<std::uint32_t>(record);
  const auto first_disk = next<std::uint32_t>(record);
  const auto here = next<std::uint64_t>(record);
  const auto members = next<std::uint64_t>(record);
  if (this_disk != 0 || first_disk != 0 || here != members) refuse_archive_in_parts(record);
  const auto size = next<std::uint64_t>(record);
  return {.start = next<std::uint64_t>(record), .size = size, .members = members, .end = start};
}

}  // namespace

void refuse_archive_in_parts(const ByteReader& record) {
  record.fail(FormatCode::unsupported_method, "an archive in one file", "one in parts");
}

ZipDirectory find_zip_directory(const ByteReader& input) {
  const std::uint64_t end_record = find_end_record(input, input.limit());
  ByteReader record = input.from(end_record + 4);
  const auto this_disk = next<std::uint16_t>(record), first_disk = next<std::uint16_t>(record);
  const auto here = next<std::uint16_t>(record), members = next<std::uint16_t>(record);
  const auto size = next<std::uint32_t>(record), start = next<std::uint32_t>(record);
  ZipDirectory directory{start, size, members, end_record};
  if (any_full(this_disk, first_disk, here, members, size, start)) {
    directory = read_zip64_end(input, end_record);
  } else if (this_disk != 0 || first_disk != 0 || here != members) {
    refuse_archive_in_parts(record);
  }
  if (directory.start > directory.end || directory.end - directory.start != directory.size) {
    input.fail_at(
        end_record, FormatCode::bad_offsets, "a directory that ends where its end record begins",
        std::to_string(directory.size) + " bytes from " + std::to_string(directory.start));
  }
  if (directory.members > directory.size / kDirectoryHeaderSize) {
    input.fail_at(end_record, FormatCode::truncated,
                  std::to_string(directory.members) + " headers in the directory",
                  std::to_string(directory.size) + " bytes");
  }
  return directory;
}

}  // namespace halfgrad::io::detail
