#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

using Bytes = std::span<const std::byte>;

/// Puts a file with these contents at `path`: after a crash at any moment, the old file or the new
/// one is there in full. Writes `path`.PID.tmp, has it flushed to the disk, and renames it; a crash
/// may leave that behind. Where `path` is a link the file behind it is replaced; a device or a pipe
/// is written to. Throws runtime_error with the system's message where a step fails; the old file
/// then remains.
void replace_file(const std::filesystem::path& path, Bytes contents);

/// The same with contents in pieces, one behind the other.
void replace_file(const std::filesystem::path& path, std::span<const Bytes> pieces);

}  // namespace halfgrad::files
