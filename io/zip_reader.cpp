#include <algorithm>
#include <bit>
#include <set>

#include <halfgrad/files/inflater.h>
#include <halfgrad/io/utf8.h>
#include <halfgrad/io/zip_archive.h>
#include <halfgrad/io/zip_directory.h>
#include <halfgrad/io/zip_records.h>

namespace halfgrad::io::detail {
namespace {

using files::ByteReader;
using files::FormatCode;
using files::Inflater;

std::string read_name(ByteReader& record, std::size_t length, std::uint16_t flags) {
  std::string name(length, '\0');
  const std::uint64_t at = record.position();
  record.read(std::as_writable_bytes(std::span(name)), "a member's name");
  const bool is_utf8 = (flags & kUtf8Name) != 0;
  const bool is_text = is_utf8 ? valid_utf8_prefix(name) == name.size()
                               : std::ranges::all_of(name, [](char c) { return (c & 0x80) == 0; });
  if (!is_text) {
    record.fail_at(at, FormatCode::bad_text, is_utf8 ? "UTF-8" : "ASCII", "other bytes");
  }
  if (!is_member_name(name)) {
    record.fail_at(at, FormatCode::bad_name, "a name without \"..\" and the like", '"' + name + '"',
                   "nothing was written to disk");
  }
  return name;
}

/// Reads zip64's extra field: the values that did not fit into 32 bits, in the order of `wide`.
void read_zip64_extra(ByteReader& record, std::uint16_t length, ZipMember& member) {
  std::uint64_t* const wide[] = {&member.size, &member.packed_size, &member.header_start};
  ByteReader extra = record;
  record.skip(length, "extra fields");
  while (extra.position() < record.position()) {
    const auto kind = next<std::uint16_t>(extra);
    const auto size = next<std::uint16_t>(extra);
    ByteReader field = extra;
    extra.skip(size, "an extra field");
    if (kind != kZip64Extra) continue;
    for (std::uint64_t* const value : wide) {
      if (*value != kInZip64Extra) continue;
      if (field.position() + 8 > extra.position()) {
        field.fail(FormatCode::truncated, "zip64's sizes in their field", "fewer");
      }
      *value = next<std::uint64_t>(field);
    }
  }
  if (extra.position() != record.position()) {
    extra.fail(FormatCode::bad_syntax, "extra fields that end with the last one", "others");
  }
}

ZipMember read_directory_header(ByteReader& record) {
  if (next<std::uint32_t>(record) != kDirectoryHeader) {
    record.fail(FormatCode::bad_syntax, "a header of the directory", "other bytes");
  }
  record.skip(2 + 2, "a zip record");  // versions
  const auto flags = next<std::uint16_t>(record);
  ZipMember member{.method = next<std::uint16_t>(record)};
  record.skip(2 + 2, "a zip record");  // time, date
  member.crc = next<std::uint32_t>(record);
  member.packed_size = next<std::uint32_t>(record);
  member.size = next<std::uint32_t>(record);
  const auto name_length = next<std::uint16_t>(record);
  const auto extra_length = next<std::uint16_t>(record);
  const auto comment_length = next<std::uint16_t>(record);
  if (next<std::uint16_t>(record) != 0) refuse_archive_in_parts(record);
  record.skip(2 + 4, "a zip record");  // attributes
  member.header_start = next<std::uint32_t>(record);
  if ((flags & kEncrypted) != 0) {
    record.fail(FormatCode::encrypted, "a member in the clear", "an encrypted one");
  }
  if (member.method != kStored && member.method != kDeflated) {
    record.fail(FormatCode::unsupported_method, "a member stored (0) or deflated (8)",
                std::to_string(member.method), "save it with numpy.savez or savez_compressed");
  }
  member.name = read_name(record, name_length, flags);
  read_zip64_extra(record, extra_length, member);
  record.skip(comment_length, "a member's comment");
  return member;
}

/// Finds the data, and checks that the local header agrees with the directory.
void read_local_header(const ByteReader& input, std::uint64_t directory_start, ZipMember& member) {
  const auto differs = [&](const char* what) {
    input.fail_at(member.header_start, FormatCode::bad_value,
                  std::string("the directory's ") + what + " for \"" + member.name + '"',
                  "another one in its local header");
  };
  ByteReader record = input.from(member.header_start);
  if (next<std::uint32_t>(record) != kLocalHeader) {
    input.fail_at(member.header_start, FormatCode::bad_offsets,
                  "a local header for \"" + member.name + '"', "other bytes");
  }
  record.skip(2, "a zip record");  // version
  const auto flags = next<std::uint16_t>(record);
  if (next<std::uint16_t>(record) != member.method) differs("method");
  record.skip(2 + 2, "a zip record");  // time, date
  const auto crc = next<std::uint32_t>(record);
  const auto packed_size = next<std::uint32_t>(record), size = next<std::uint32_t>(record);
  const auto name_length = next<std::uint16_t>(record);
  const auto extra_length = next<std::uint16_t>(record);
  // With a data descriptor, these three fields follow the data and repeat the directory's values.
  if ((flags & kDataDescriptor) == 0) {
    if (crc != member.crc) differs("checksum");
    if (packed_size != kInZip64Extra && packed_size != member.packed_size) differs("packed size");
    if (size != kInZip64Extra && size != member.size) differs("size");
  }
  std::string name(name_length, '\0');
  record.read(std::as_writable_bytes(std::span(name)), "a member's name");
  if (name != member.name) differs("name");
  record.skip(extra_length, "extra fields");
  member.data_start = record.position();
  if (member.data_start > directory_start ||
      member.packed_size > directory_start - member.data_start) {
    input.fail_at(member.header_start, FormatCode::bad_offsets, "data before the directory",
                  std::to_string(member.packed_size) + " bytes of \"" + member.name + '"');
  }
}

void check_sizes(const ZipMember& member, const ByteReader& input) {
  if (member.method == kStored && member.packed_size != member.size) {
    input.fail_at(member.header_start, FormatCode::size_mismatch, "a stored member of one size",
                  std::to_string(member.packed_size) + " and " + std::to_string(member.size));
  }
  if (member.size / Inflater::kMaxRatio > member.packed_size) {
    input.fail_at(member.header_start, FormatCode::bomb, "at most 1032 bytes for each packed one",
                  std::to_string(member.size) + " from " + std::to_string(member.packed_size));
  }
}

void check_overlap(std::vector<ZipMember> members, const ByteReader& input) {
  std::ranges::sort(members, {}, &ZipMember::header_start);
  for (std::size_t i = 1; i < members.size(); ++i) {
    const ZipMember& before = members[i - 1];
    if (members[i].header_start >= before.data_start + before.packed_size) continue;
    input.fail_at(members[i].header_start, FormatCode::overlap, "members that do not overlap",
                  '"' + members[i].name + "\" within \"" + before.name + '"');
  }
}

/// Unpacks a deflated member; fails unless it has exactly member.size bytes.
std::vector<std::byte> inflate_all(const ZipMember& member, const ByteReader& input) {
  std::vector<std::byte> data = input.buffer(member.size);
  std::byte extra;
  Inflater inflater(input.source(), member.data_start, member.packed_size,
                    Inflater::Wrapping::none);
  const auto fail = [&](FormatCode code, const std::string& got) {
    input.fail_at(member.data_start, code,
                  std::to_string(member.size) + " bytes in \"" + member.name + '"', got);
  };
  std::size_t count = 0, more = 0;
  try {
    count = inflater.read(data);
    more = inflater.read({&extra, 1});
  } catch (const std::runtime_error& error) {
    fail(FormatCode::corrupt_stream, error.what());
  }
  if (count < data.size()) fail(FormatCode::size_mismatch, std::to_string(count));
  if (more > 0) fail(FormatCode::bomb, "more");
  if (inflater.unread() > 0) fail(FormatCode::trailing_bytes, "bytes after the end of the stream");
  return data;
}

/// Computes the checksum piece by piece; that of fewer bytes if the file was truncated meanwhile.
std::uint32_t checksum_of(const files::ByteSource& data) {
  std::vector<std::byte> piece(1 << 16);
  std::uint32_t sum = 0;
  std::uint64_t at = 0;
  while (const std::size_t count = data.read(at, piece)) {
    sum = checksum(std::span(piece).first(count), sum);
    at += count;
  }
  return sum;
}

}  // namespace

bool is_member_name(const std::string& name) {
  const bool has_drive = name.size() > 2 && name.substr(1, 2) == ":/";
  if (has_drive) return false;
  std::size_t start = 0;
  while (start <= name.size()) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return name.size() <= 0xFFFF && std::ranges::none_of(name, [](char c) {
           return c == '\\' || static_cast<unsigned char>(c) < 0x20;
         });
}

std::vector<ZipMember> read_zip_directory(const ByteReader& input) {
  const ZipDirectory directory = find_zip_directory(input);
  ByteReader record = input.from(directory.start);
  std::vector<ZipMember> members;
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    const std::uint64_t at = record.position();
    ZipMember member = read_directory_header(record);
    if (!names.insert(member.name).second) {
      input.fail_at(at, FormatCode::duplicate_name, "each name once",
                    '"' + member.name + "\" twice");
    }
    if (member.header_start >= directory.start) {
      input.fail_at(at, FormatCode::bad_offsets, "a member before the directory",
                    '"' + member.name + "\" after it");
    }
    read_local_header(input, directory.start, member);
    check_sizes(member, input);
    members.push_back(std::move(member));
  }
  if (record.position() != directory.end) {
    record.fail(FormatCode::bad_offsets, "the end of the directory", "more of it");
  }
  check_overlap(members, input);
  return members;
}

files::ByteSource unpack(const ZipMember& member, const ByteReader& input) {
  const auto data = member.method == kStored
                        ? input.source().part(member.data_start, member.size)
                        : files::ByteSource::owning(inflate_all(member, input));
  const std::uint32_t sum = checksum_of(data);
  if (sum != member.crc) {
    input.fail_at(member.data_start, FormatCode::bad_checksum,
                  "the checksum " + std::to_string(member.crc) + " of \"" + member.name + '"',
                  std::to_string(sum));
  }
  return data;
}

}  // namespace halfgrad::io::detail
