#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace halfgrad::files {

/// All bytes of a file. Throws FormatError(unreadable) in the name of `reader`.
std::vector<std::byte> read_file(const std::filesystem::path& path, const std::string& reader);

}  // namespace halfgrad::files
