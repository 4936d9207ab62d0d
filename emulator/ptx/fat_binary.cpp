#include <halfgrad/emulator/ptx/fat_binary.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <lz4.h>
#include <zstd.h>

namespace halfgrad::emulator {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
/// nvcc of CUDA 12.7 and older compresses by LZ4, as `--compress-mode=speed` does later; the
/// default of newer ones is Zstandard.
constexpr std::uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000, kOtherCompressionFlag = 0x1000;
constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 30;

/// Layout in the file; NVIDIA does not document it.
struct FileHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< after the header
};
struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t padded_bytes;
  std::uint32_t compressed_bytes, options_offset;
  std::uint16_t minor_version, major_version;
  std::uint32_t architecture, name_offset, name_bytes;
  std::uint64_t flags, reserved, text_bytes;
};
static_assert(sizeof(FileHeader) == 16 && sizeof(EntryHeader) == 64);

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) {
    throw std::runtime_error("fat binary: expected more bytes");
  }
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

FatBinaryEntry::Compression compression_of(std::uint64_t flags) {
  using enum FatBinaryEntry::Compression;
  if ((flags & kLz4Flag) != 0) return lz4;
  if ((flags & kZstdFlag) != 0) return zstd;
  return (flags & kOtherCompressionFlag) != 0 ? unknown : none;
}

FatBinaryEntry::Kind kind_of(std::uint16_t kind) {
  using enum FatBinaryEntry::Kind;
  return kind == 1 ? ptx : kind == 2 ? machine_code : other;
}

/// Entries in `bytes`, what follows a file header.
std::vector<FatBinaryEntry> entries_in(std::span<const std::byte> bytes) {
  std::vector<FatBinaryEntry> result;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto header = read_at<EntryHeader>(bytes, at);
    const std::size_t left = bytes.size() - at;
    if (header.header_bytes < sizeof(EntryHeader) || header.header_bytes > left ||
        header.padded_bytes > left - header.header_bytes) {
      throw std::runtime_error("fat binary: expected an entry of at most " + std::to_string(left) +
                               " bytes");
    }
    FatBinaryEntry entry;
    entry.kind = kind_of(header.kind);
    entry.architecture = header.architecture;
    entry.compression = compression_of(header.flags);
    entry.bytes = bytes.subspan(at + header.header_bytes, header.padded_bytes);
    if (entry.compression != FatBinaryEntry::Compression::none) {
      if (header.compressed_bytes > header.padded_bytes) {
        throw std::runtime_error("fat binary: expected a compressed size within its entry");
      }
      entry.bytes = entry.bytes.first(header.compressed_bytes);
      entry.text_bytes = header.text_bytes;
    }
    result.push_back(entry);
    at += header.header_bytes + header.padded_bytes;
  }
  return result;
}

std::string unpacked(const FatBinaryEntry& entry) {
  using enum FatBinaryEntry::Compression;
  const char* from = reinterpret_cast<const char*>(entry.bytes.data());
  if (entry.compression == none) return std::string(from, entry.bytes.size());
  if (entry.compression == unknown || entry.text_bytes > kMostTextBytes) {
    throw std::runtime_error("fat binary: unknown compression; build with nvcc --no-compress");
  }
  std::string text(entry.text_bytes, '\0');
  std::size_t written = 0;
  if (entry.compression == zstd) {
    written = ZSTD_decompress(text.data(), text.size(), from, entry.bytes.size());
  } else {
    written = static_cast<std::size_t>(LZ4_decompress_safe(
        from, text.data(), static_cast<int>(entry.bytes.size()), static_cast<int>(text.size())));
  }
  if (written != text.size()) {
    throw std::runtime_error("fat binary: expected " + std::to_string(text.size()) +
                             " bytes of PTX after decompression");
  }
  return text;
}

}  // namespace

std::vector<FatBinaryEntry> entries(const void* fat_binary) {
  FileHeader header;
  std::memcpy(&header, fat_binary, sizeof(header));
  if (header.magic != kMagic || header.header_bytes < sizeof(header)) {
    throw std::runtime_error("fat binary: expected the magic number ba55ed50");
  }
  const auto* begin = static_cast<const std::byte*>(fat_binary) + header.header_bytes;
  return entries_in({begin, header.bytes});
}

std::vector<FatBinaryEntry> entries_in_file(std::string_view content) {
  std::vector<FatBinaryEntry> result;
  const auto bytes = std::as_bytes(std::span(content));
  const std::string_view magic("\x50\xed\x55\xba", 4);
  for (std::size_t at = content.find(magic); at != std::string_view::npos;) {
    std::size_t next = at + magic.size();
    if (content.size() - at >= sizeof(FileHeader)) {
      const auto header = read_at<FileHeader>(bytes, at);
      if (header.header_bytes == sizeof(FileHeader) &&
          header.bytes <= content.size() - at - sizeof(FileHeader)) {
        const auto found = entries_in(bytes.subspan(at + sizeof(FileHeader), header.bytes));
        result.insert(result.end(), found.begin(), found.end());
        next = at + sizeof(FileHeader) + header.bytes;
      }
    }
    at = content.find(magic, next);
  }
  return result;
}

std::string ptx(const FatBinaryEntry& entry) {
  std::string text = unpacked(entry);
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::string best_ptx(std::span<const FatBinaryEntry> entries, unsigned most) {
  const FatBinaryEntry* best = nullptr;
  for (const FatBinaryEntry& entry : entries) {
    if (entry.kind != FatBinaryEntry::Kind::ptx || entry.architecture > most) continue;
    if (best == nullptr || entry.architecture > best->architecture) best = &entry;
  }
  if (best != nullptr) return ptx(*best);
  throw std::runtime_error("the program has no PTX for sm_" + std::to_string(most) +
                           " or below; build it with nvcc -cudart shared -gencode "
                           "arch=compute_80,code=compute_80");
}

}  // namespace halfgrad::emulator
