#include <halfgrad/files/file_kind.h>

#include <bit>
#include <cstddef>
#include <span>
#include <string_view>

#include <halfgrad/files/byte_order.h>
#include <halfgrad/files/format_error.h>

namespace halfgrad::files {
namespace {

struct Named {
  std::string_view name, reader;
};

constexpr Named kNames[] = {{"", ""},
                            {"an IDX file", "read_idx"},
                            {"an .npy file", "load_npy"},
                            {"an .npz archive", "load_npz"},
                            {"a safetensors file", "load_safetensors"}};

const Named& named(FileKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

/// A safetensors file starts with the length of its header and the header, which is JSON.
bool is_safetensors(std::span<const std::byte> start, std::uint64_t size) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  return start.size() > kLength && start[kLength] == std::byte{'{'} &&
         load<std::uint64_t>(start.data(), std::endian::little) <= size - kLength;
}

}  // namespace

FileKind file_kind(const ByteSource& bytes) {
  std::byte start[16];
  const std::size_t count = bytes.read(0, start);
  if (is_safetensors({start, count}, bytes.size())) return FileKind::safetensors;
  const std::string_view text(reinterpret_cast<const char*>(start), count);
  if (text.starts_with("\x93NUMPY")) return FileKind::npy;
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) return FileKind::npz;
  const bool begins_as_idx = text.size() > 4 && text[0] == 0 && text[1] == 0 && text[2] >= 8 &&
                             text[2] <= 14 && text[3] >= 1 && text[3] <= 8;
  return begins_as_idx ? FileKind::idx : FileKind::unknown;
}

void expect_kind(FileKind expected, const ByteSource& bytes, const std::string& reader,
                 const std::string& file) {
  const FileKind kind = file_kind(bytes);
  if (kind == expected || kind == FileKind::unknown) return;
  throw FormatError(reader, file,
                    {FormatCode::bad_magic, 0, std::string(named(expected).name),
                     std::string(named(kind).name), std::string(named(kind).reader) + " reads it"});
}

}  // namespace halfgrad::files
