#include <halfgrad/files/replace_file.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

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

bool write_and_flush(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  return file.is_open() &&
         std::ranges::all_of(pieces, [&](Bytes piece) { return file.write(piece); }) &&
         file.flush();
}

}  // namespace

void replace_file(const std::filesystem::path& path, Bytes contents) {
  replace_file(path, {&contents, 1});
}

void replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  if (!write_and_flush(temporary, pieces) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const auto reason = std::generic_category().message(errno);
    ::unlink(temporary.c_str());
    throw std::runtime_error("replace_file: expected to write " + path.string() +
                             ", got: " + reason);
  }
  // The rename itself is on the disk once its directory is; not every file system can flush one.
  const auto directory = path.has_parent_path() ? path.parent_path() : ".";
  Descriptor(directory, O_RDONLY | O_DIRECTORY).flush();
}

}  // namespace halfgrad::files
