#include <halfgrad/files/replace_file.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <halfgrad/core/fail.h>

namespace halfgrad::files {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  bool flush() { return ::fsync(number_) == 0; }

  bool write(Bytes bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes = bytes.subspan(written);
    }
    return true;
  }

 private:
  int number_;
};

bool write_all(Descriptor& file, std::span<const Bytes> pieces) {
  return file.is_open() &&
         std::ranges::all_of(pieces, [&](Bytes piece) { return file.write(piece); });
}

bool write_in_place(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  Descriptor file(path, O_WRONLY);
  return write_all(file, pieces);
}

bool write_and_flush(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  return write_all(file, pieces) && file.flush();
}

bool write_and_rename(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  std::filesystem::path temporary = path;
  temporary += "." + std::to_string(::getpid()) + ".tmp";
  if (!write_and_flush(temporary, pieces) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    return false;
  }
  // Flushing the directory writes the rename to disk. Some file systems cannot; that is no error.
  const auto directory = path.has_parent_path() ? path.parent_path() : ".";
  Descriptor(directory, O_RDONLY | O_DIRECTORY).flush();
  return true;
}

// True for a device, a pipe or a folder, which a rename must not replace.
bool is_special(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// Follows symbolic links to their target, which need not exist. Returns `path` if they form a
// cycle.
std::filesystem::path link_target(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // Linux's limit
  std::filesystem::path end = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const auto next = std::filesystem::read_symlink(end, error);
    if (error) return end;
    end = end.parent_path() / next;
  }
  return path;
}

}  // namespace

void replace_file(const std::filesystem::path& path, Bytes contents) {
  replace_file(path, {&contents, 1});
}

void replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  const bool is_written =
      is_special(path) ? write_in_place(path, pieces) : write_and_rename(link_target(path), pieces);
  if (is_written) return;
  const auto reason = std::generic_category().message(errno);
  detail::fail<std::runtime_error>("replace_file", "expected to write {}, got: {}", path.string(),
                                   reason);
}

}  // namespace halfgrad::files
