#include <algorithm>
#include <bit>

#include <zlib.h>

#include <halfgrad/files/byte_order.h>
#include <halfgrad/io/zip_archive.h>
#include <halfgrad/io/zip_records.h>

namespace halfgrad::io::detail {
namespace {

constexpr std::uint16_t kFirstOf1980 = 1 << 5 | 1;  // earliest date: 1 January 1980 (4.4.6)
constexpr std::uint16_t kVersion = 20, kZip64Version = 45;

class Record {
 public:
  template <class T>
  Record& add(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    files::store(value, reinterpret_cast<std::byte*>(&bytes_[bytes_.size() - sizeof(T)]),
                 std::endian::little);
    return *this;
  }
  Record& add(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Converts 64-bit values to 32-bit fields; values that do not fit go to zip64's extra field.
class Zip64Fields {
 public:
  explicit Zip64Fields(std::uint64_t from) : from_(from) {}

  std::uint32_t operator()(std::uint64_t value) {
    if (value < from_) return static_cast<std::uint32_t>(value);
    fields_.add(value);
    count_ += 1;
    return kInZip64Extra;
  }
  bool any() const { return count_ > 0; }
  std::string extra() {
    if (!any()) return {};
    Record header;
    header.add(kZip64Extra).add(static_cast<std::uint16_t>(8 * count_));
    return header.take() + fields_.take();
  }

 private:
  std::uint64_t from_;
  int count_ = 0;
  Record fields_;
};

/// Adds the fields that local headers and directory headers share, from the version needed to the
/// length of the extra fields.
void add_description(Record& record, const ZipMember& member, std::uint32_t packed_size,
                     std::uint32_t size, const Zip64Fields& wide, std::size_t extra_length) {
  record.add(wide.any() ? kZip64Version : kVersion)
      .add(kUtf8Name)
      .add(member.method)
      .add(std::uint16_t{0})
      .add(kFirstOf1980)
      .add(member.crc)
      .add(packed_size)
      .add(size)
      .add(static_cast<std::uint16_t>(member.name.size()))
      .add(static_cast<std::uint16_t>(extra_length));
}

std::string local_header(const ZipMember& member, std::uint64_t zip64_from) {
  Zip64Fields wide(zip64_from);
  // A stored member has equal sizes, so both go to zip64's field or neither does, as 4.5.3
  // requires.
  const std::uint32_t size = wide(member.size), packed_size = wide(member.packed_size);
  const std::string extra = wide.extra();
  Record record;
  record.add(kLocalHeader);
  add_description(record, member, packed_size, size, wide, extra.size());
  return record.add(member.name).add(extra).take();
}

std::string directory_header(const ZipMember& member, std::uint64_t zip64_from) {
  Zip64Fields wide(zip64_from);
  const std::uint32_t size = wide(member.size), packed_size = wide(member.packed_size);
  const std::uint32_t header_start = wide(member.header_start);
  const std::string extra = wide.extra();
  Record record;
  record.add(kDirectoryHeader).add(wide.any() ? kZip64Version : kVersion);
  add_description(record, member, packed_size, size, wide, extra.size());
  record
      .add(std::uint16_t{0})  // comment
      .add(std::uint16_t{0})  // disk
      .add(std::uint16_t{0})  // text or binary
      .add(std::uint32_t{0})  // the system's attributes
      .add(header_start);
  return record.add(member.name).add(extra).take();
}

std::string end_of_archive(std::uint64_t members, std::uint64_t start, std::uint64_t size,
                           std::uint64_t zip64_from) {
  Record record;
  const bool is_wide = members >= 0xFFFF || start >= zip64_from || size >= zip64_from;
  if (is_wide) {
    record.add(kZip64EndRecord)
        .add(kZip64EndRecordSize - 12)  // excludes the signature and this field
        .add(kZip64Version)
        .add(kZip64Version)
        .add(std::uint32_t{0})
        .add(std::uint32_t{0})
        .add(members)
        .add(members)
        .add(size)
        .add(start);
    record.add(kZip64Locator).add(std::uint32_t{0}).add(start + size).add(std::uint32_t{1});
  }
  const auto count = static_cast<std::uint16_t>(is_wide ? 0xFFFF : members);
  return record.add(kEndRecord)
      .add(std::uint16_t{0})
      .add(std::uint16_t{0})
      .add(count)
      .add(count)
      .add(static_cast<std::uint32_t>(is_wide ? kInZip64Extra : size))
      .add(static_cast<std::uint32_t>(is_wide ? kInZip64Extra : start))
      .add(std::uint16_t{0})
      .take();
}

}  // namespace

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t so_far) {
  if (bytes.empty()) return so_far;  // zlib restarts the checksum at a null pointer
  return static_cast<std::uint32_t>(
      crc32_z(so_far, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::string> format_zip(const std::vector<ZipContents>& members,
                                    std::uint64_t zip64_from) {
  std::vector<std::string> parts;
  std::string directory;
  std::uint64_t end = 0;
  for (const ZipContents& contents : members) {
    ZipMember member{.name = contents.name, .method = kStored, .header_start = end};
    for (const auto piece : contents.pieces) {
      member.crc = checksum(piece, member.crc);
      member.size += piece.size();
    }
    member.packed_size = member.size;
    parts.push_back(local_header(member, zip64_from));
    directory += directory_header(member, zip64_from);
    end += parts.back().size() + member.size;
  }
  parts.push_back(directory + end_of_archive(members.size(), end, directory.size(), zip64_from));
  return parts;
}

}  // namespace halfgrad::io::detail
