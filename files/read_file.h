#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// Returns why a file cannot be read: "no such file", "a folder" or the system's message.
std::string why_unreadable(const std::filesystem::path& path);

/// Returns all bytes of a file. Throws FormatError(unreadable), which names `reader`.
std::vector<std::byte> read_file(const std::filesystem::path& path, const std::string& reader);

}  // namespace halfgrad::files
