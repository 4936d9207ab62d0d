#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include <halfgrad/core/language.h>
#include <halfgrad/files/descriptor.h>

namespace halfgrad::files {

/// A new file in the folder of `target`, called TARGET.halfgrad-RANDOM.tmp, which rename() puts in
/// the place of the target. It has the target's mode and, if the process may give files away, its
/// owner; without a target, the mode that the umask gives to new files. Removed at the end unless
/// it was renamed. Locked by flock() as long as its writer lives. Calls that return false leave the
/// reason in errno.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  bool write(std::span<const std::byte> bytes);
  /// Flushes the file to the disk, renames it, and flushes the folder.
  bool rename();

  /// Removes temporary files of the same target whose writers have died: their locks are free, and
  /// their last write is more than a minute older than this file. Keeps all of them on file systems
  /// without locks, where a writer cannot be told from a dead one.
  void remove_stale() const;

 private:
  std::filesystem::path target_, path_;
  Descriptor file_;
};

/// Writes all of `bytes`.
bool write_all(const Descriptor& file, std::span<const std::byte> bytes);

}  // namespace halfgrad::files
