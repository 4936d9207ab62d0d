#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halfgrad::files {

/// Formats that halfgrad reads, as their first bytes show them.
enum class FileKind : std::uint8_t { unknown, idx, npy, npz, safetensors };

FileKind file_kind(std::span<const std::byte> bytes);

/// Throws FormatError(bad_magic), which names the function to call instead, for the bytes of one of
/// the other formats. What is no format of ours passes: its own reader says what is wrong.
void expect_kind(FileKind expected, std::span<const std::byte> bytes, const std::string& reader,
                 const std::string& file);

}  // namespace halfgrad::files
