#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halfgrad::files {

/// The formats that halfgrad reads; file_kind() recognises them by their first bytes.
enum class FileKind : std::uint8_t { unknown, idx, npy, npz, safetensors };

FileKind file_kind(std::span<const std::byte> bytes);

/// Throws FormatError(bad_magic) for the bytes of another known format, and names the function that
/// reads it. Accepts bytes of an unknown format: the reader that follows says what is wrong.
void expect_kind(FileKind expected, std::span<const std::byte> bytes, const std::string& reader,
                 const std::string& file);

}  // namespace halfgrad::files
