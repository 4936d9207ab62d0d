#include <halfgrad/files/replace_file.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/temporary_file.h>

namespace halfgrad::files {
namespace {

bool write_in_place(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  const Descriptor file(path, O_WRONLY);
  return file.is_open() &&
         std::ranges::all_of(pieces, [&](Bytes piece) { return write_all(file, piece); });
}

bool write_and_rename(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  TemporaryFile file(path);
  if (!file.is_open()) return false;
  file.remove_stale();  // first, since they may fill the disk
  return std::ranges::all_of(pieces, [&](Bytes piece) { return file.write(piece); }) &&
         file.rename();
}

// True for a device, a pipe or a folder, which a rename must not replace.
bool is_special(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// Follows symbolic links to their target, which need not exist. Returns nullopt if they form a
// cycle.
std::optional<std::filesystem::path> link_target(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // Linux's limit
  std::filesystem::path end = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const auto next = std::filesystem::read_symlink(end, error);
    if (error) return end;
    end = end.parent_path() / next;
  }
  return std::nullopt;
}

bool write_to_target(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  const auto target = link_target(path);
  if (target) return write_and_rename(*target, pieces);
  errno = ELOOP;
  return false;
}

}  // namespace

void replace_file(const std::filesystem::path& path, Bytes contents) {
  replace_file(path, {&contents, 1});
}

void replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  const bool is_written =
      is_special(path) ? write_in_place(path, pieces) : write_to_target(path, pieces);
  if (is_written) return;
  const auto reason = std::generic_category().message(errno);
  detail::fail<WriteError>("replace_file", "expected to write {}, got: {}", path.string(), reason);
}

}  // namespace halfgrad::files
