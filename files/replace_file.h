#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

using Bytes = std::span<const std::byte>;

/// Replaces the file at `path` atomically: after a crash, either the old or the new file is
/// complete. Writes `path`.PID.tmp, flushes it to disk and renames it; a crash may leave this
/// temporary file. Replaces the target of a symbolic link; writes into a device or a pipe. Throws
/// std::runtime_error with the system's message if a step fails; the old file then remains.
void replace_file(const std::filesystem::path& path, Bytes contents);

/// Writes several pieces one after the other, as one file.
void replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces);

}  // namespace halfgrad::files
