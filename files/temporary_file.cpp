#include <halfgrad/files/temporary_file.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halfgrad::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMiddle = ".halfgrad-", kEnd = ".tmp";
constexpr int kDigits = 16;                // in the random part of a name
constexpr std::size_t kLongestName = 200;  // bytes; systems allow 255
constexpr int kAttempts = 100;
constexpr std::int64_t kStaleSeconds = 60;

/// The part of the name before the random digits. A long name is left out.
std::string stem(const fs::path& target) {
  const std::string name = target.filename().string();
  return (name.size() > kLongestName ? "" : name) + std::string(kMiddle);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Returns 16 random hexadecimal digits. Takes them from the system, because a generator of our own
/// would continue in the same way in both processes after a fork.
std::string random_digits() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof(value), 0) != sizeof(value)) value ^= std::uint64_t(::getpid());
  std::string digits(kDigits, '0');
  for (char& digit : digits) {
    digit = "0123456789abcdef"[value & 0xF];
    value >>= 4;
  }
  return digits;
}

/// True for names that a temporary file of a target with this stem may have.
bool is_temporary(const std::string& name, const std::string& stem) {
  if (name.size() != stem.size() + kDigits + kEnd.size()) return false;
  if (!name.starts_with(stem) || !name.ends_with(kEnd)) return false;
  const std::string digits = name.substr(stem.size(), kDigits);
  return digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

/// Locks a file that nobody else has locked. Returns true, too, where there are no locks.
bool lock(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool is_removed(const Descriptor& file) {
  struct stat status {};
  return ::fstat(file.number(), &status) == 0 && status.st_nlink == 0;
}

/// Gives a new file the owner and the mode of the file that it will replace. Failures are no
/// errors: other users' files and some file systems do not allow it.
void imitate(const Descriptor& file, const struct stat& old) {
  struct stat own {};
  if (::fstat(file.number(), &own) != 0) return;
  if (own.st_gid != old.st_gid && ::fchown(file.number(), uid_t(-1), old.st_gid) != 0) errno = 0;
  if (own.st_uid != old.st_uid && ::fchown(file.number(), old.st_uid, gid_t(-1)) != 0) errno = 0;
  if (::fchmod(file.number(), old.st_mode & 0777) != 0) errno = 0;
}

}  // namespace

bool write_all(const Descriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

TemporaryFile::TemporaryFile(const fs::path& target) : target_(target) {
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  // Nobody may read the new file who may not read the old one, not even while it is written.
  const mode_t mode = replaces ? old.st_mode & 0600 : 0666;
  for (int attempt = 0; attempt < kAttempts && !is_open(); ++attempt) {
    path_ = folder_of(target) / (stem(target) + random_digits() + std::string(kEnd));
    Descriptor created(path_, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!created.is_open() && errno != EEXIST) return;
    // A process may have taken the file for a stale one before it was locked.
    if (created.is_open() && lock(created) && !is_removed(created)) file_ = std::move(created);
  }
  if (is_open() && replaces) imitate(file_, old);
}

TemporaryFile::~TemporaryFile() {
  if (!is_open()) return;
  const int reason = errno;
  ::unlink(path_.c_str());
  errno = reason;
}

bool TemporaryFile::write(std::span<const std::byte> bytes) { return write_all(file_, bytes); }

bool TemporaryFile::rename() {
  if (::fsync(file_.number()) != 0) return false;
  if (::rename(path_.c_str(), target_.c_str()) != 0) return false;
  file_ = Descriptor();
  // Flushing the folder writes the rename to the disk. Some file systems cannot; that is no error.
  const Descriptor folder(folder_of(target_), O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) ::fsync(folder.number());
  return true;
}

void TemporaryFile::remove_stale() const {
  struct stat own {};
  if (::fstat(file_.number(), &own) != 0) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(target_), error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (!is_temporary(path.filename().string(), stem(target_))) continue;
    constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK;
    Descriptor file(path, O_RDWR | kFlags);  // NFS locks only files that are open for writing
    if (!file.is_open()) file = Descriptor(path, O_RDONLY | kFlags);
    struct stat status {};
    if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    // Compares times of the file system's clock, which may be another machine's.
    if (status.st_mtime + kStaleSeconds >= own.st_mtime) continue;
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

}  // namespace halfgrad::files
