#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>

#include <halfgrad/core/error.h>
#include <halfgrad/core/language.h>

namespace halfgrad::files {

using Bytes = std::span<const std::byte>;

/// The error about a file that cannot be written, with the system's reason.
class WriteError : public halfgrad::detail::Raised<std::runtime_error> {
 public:
  using Raised::Raised;
};

/// Replaces the file at `path` atomically: a reader, also one after a crash, finds either the old
/// or the new file complete. Any number of threads, processes and containers may replace one file;
/// the last one wins. Writes a temporary file of a unique name in the same folder, flushes it to
/// the disk, and renames it. Keeps the mode and the owner of the old file, but not its ACLs.
///
/// A crash may leave the temporary file; a later call for the same path removes it
/// (files/temporary_file.h). A symbolic link stays, and its target is replaced. Writes into a
/// device or a pipe, not atomically. Throws WriteError if a step fails; the old file then remains.
void replace_file(const std::filesystem::path& path, Bytes contents);

/// Writes several pieces one after the other, as one file.
void replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces);

}  // namespace halfgrad::files
