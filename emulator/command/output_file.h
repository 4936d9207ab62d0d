#pragma once

#include <string>

namespace halfgrad::emulator {

/// Writes a file; nothing if the path is "". Throws std::runtime_error if that fails.
void write_file(const std::string& path, const std::string& text);

}  // namespace halfgrad::emulator
