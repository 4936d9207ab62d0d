#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <halfgrad/core/language.h>

namespace halfgrad::files {

/// Why a file cannot be read, as an error says it: "no such file", "a folder" or the system's
/// words.
std::string why_unreadable(const std::filesystem::path& path);

/// All bytes of a file. Throws FormatError(unreadable) in the name of `reader`.
std::vector<std::byte> read_file(const std::filesystem::path& path, const std::string& reader);

}  // namespace halfgrad::files
