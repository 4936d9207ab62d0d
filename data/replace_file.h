#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace halfgrad::data {

/// Puts a file with these contents at `path`: after a crash at any moment, the old file or the new
/// one is there in full. Writes `path`.tmp, has it flushed to the disk, and renames it.
/// Throws runtime_error with the system's message where a step fails; the old file then remains.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> contents);

}  // namespace halfgrad::data
