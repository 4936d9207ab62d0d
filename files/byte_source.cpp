#include <halfgrad/files/byte_source.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include <halfgrad/files/descriptor.h>

namespace halfgrad::files {

struct ByteSource::File {
  Descriptor descriptor;
  std::string path, reader;

  /// A copy of a part of the file. Headers are read a few bytes at a time, and those of an archive
  /// in two places by turns.
  struct Block {
    std::vector<std::byte> bytes = {};
    std::uint64_t start = 0;

    bool contains(std::uint64_t at) const { return at >= start && at - start < bytes.size(); }
  };
  std::array<Block, 2> blocks = {};  // the last one used comes first

  /// Reads until `to` is full or the file ends.
  std::size_t read(std::uint64_t offset, std::span<std::byte> to) const;
  std::size_t read_from_blocks(std::uint64_t offset, std::span<std::byte> to);
  const Block& block_at(std::uint64_t at);
};

namespace {

constexpr std::size_t kBlock = 1 << 14;  // bytes

[[noreturn]] void refuse(const std::string& path, const std::string& reader,
                         const std::string& got) {
  throw FormatError(reader, path, {FormatCode::unreadable, 0, "a file", got});
}

std::string reason(int error) {
  return error == ENOENT ? "no such file" : std::generic_category().message(error);
}

/// Returns what a file of this mode is, or an empty string for a regular file.
std::string special_kind(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

}  // namespace

std::size_t ByteSource::File::read(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = ::pread(descriptor.number(), to.data() + done, to.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, reader, std::generic_category().message(errno));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

const ByteSource::File::Block& ByteSource::File::block_at(std::uint64_t at) {
  auto& [last, other] = blocks;
  if (last.contains(at)) return last;
  std::swap(last, other);
  if (last.contains(at)) return last;
  last.start = at / kBlock * kBlock;
  last.bytes.resize(kBlock);
  last.bytes.resize(read(last.start, last.bytes));
  return last;
}

std::size_t ByteSource::File::read_from_blocks(std::uint64_t offset, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::uint64_t at = offset + done;
    const Block& block = block_at(at);
    if (!block.contains(at)) break;
    const auto part = std::span(block.bytes).subspan(static_cast<std::size_t>(at - block.start));
    const std::size_t count = std::min(to.size() - done, part.size());
    std::copy_n(part.begin(), count, to.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
  return done;
}

ByteSource ByteSource::open(const std::filesystem::path& path, const std::string& reader) {
  const std::string name = path.string();
  struct stat status {};
  // Looks before it opens: opening a device may have an effect, as a tape that rewinds.
  if (::stat(path.c_str(), &status) != 0) refuse(name, reader, reason(errno));
  if (const auto kind = special_kind(status.st_mode); !kind.empty()) refuse(name, reader, kind);
  Descriptor descriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &status) != 0) {
    refuse(name, reader, reason(errno));
  }
  if (const auto kind = special_kind(status.st_mode); !kind.empty()) refuse(name, reader, kind);
  ByteSource source{std::span<const std::byte>()};
  source.size_ = static_cast<std::uint64_t>(status.st_size);
  source.file_ = std::make_shared<File>(File{std::move(descriptor), name, reader});
  return source;
}

ByteSource ByteSource::owning(std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  ByteSource source{std::span(*owned)};
  source.owned_ = std::move(owned);
  return source;
}

ByteSource ByteSource::part(std::uint64_t start, std::uint64_t size) const {
  ByteSource result = *this;
  result.size_ = size;
  result.is_part_ = true;
  if (file_) {
    result.start_ += start;
  } else {
    result.memory_ = memory_.subspan(start, size);
  }
  return result;
}

std::size_t ByteSource::read(std::uint64_t offset, std::span<std::byte> to) const {
  // A whole file may have grown since it was opened, so its size is no limit.
  const std::uint64_t end = is_part_ ? size_ : INT64_MAX - start_;
  if (offset >= end) return 0;
  to = to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), end - offset)));
  if (file_) {
    const std::uint64_t at = start_ + offset;
    return to.size() < kBlock ? file_->read_from_blocks(at, to) : file_->read(at, to);
  }
  if (offset >= memory_.size()) return 0;
  const std::size_t count = std::min<std::size_t>(to.size(), memory_.size() - offset);
  std::copy_n(memory_.data() + offset, count, to.data());
  return count;
}

}  // namespace halfgrad::files
