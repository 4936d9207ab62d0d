#include <halfgrad/files/byte_source.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include <sys/stat.h>

#include <halfgrad/files/descriptor.h>

namespace halfgrad::files {

struct ByteSource::File {
  Descriptor descriptor;
  std::string path, reader;
  // Headers are read a few bytes at a time, from this copy of a part of the file.
  std::vector<std::byte> block = {};
  std::uint64_t block_start = 0;

  /// Reads until `to` is full or the file ends.
  std::size_t read(std::uint64_t offset, std::span<std::byte> to) const;
  std::size_t read_from_block(std::uint64_t offset, std::span<std::byte> to);
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

std::size_t ByteSource::File::read_from_block(std::uint64_t offset, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::uint64_t at = offset + done;
    if (at < block_start || at >= block_start + block.size()) {
      block.resize(kBlock);
      block_start = at / kBlock * kBlock;
      block.resize(read(block_start, block));
      if (at >= block_start + block.size()) break;
    }
    const auto start = static_cast<std::size_t>(at - block_start);
    const std::size_t count = std::min(to.size() - done, block.size() - start);
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(start), count, to.begin() + done);
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

std::size_t ByteSource::read(std::uint64_t offset, std::span<std::byte> to) const {
  if (offset > static_cast<std::uint64_t>(INT64_MAX) - to.size()) return 0;
  if (file_) {
    return to.size() < kBlock ? file_->read_from_block(offset, to) : file_->read(offset, to);
  }
  if (offset >= memory_.size()) return 0;
  const std::size_t count = std::min<std::size_t>(to.size(), memory_.size() - offset);
  std::copy_n(memory_.data() + offset, count, to.data());
  return count;
}

}  // namespace halfgrad::files
