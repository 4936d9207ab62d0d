#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/files/byte_source.h>

namespace halfgrad::files {

/// The formats that halfgrad reads; file_kind() recognises them by their first bytes.
enum class FileKind : std::uint8_t { unknown, idx, npy, npz, safetensors };

FileKind file_kind(const ByteSource& bytes);

/// Throws FormatError(bad_magic) for the bytes of another known format, and names the function that
/// reads it. Accepts bytes of an unknown format: the reader that follows says what is wrong.
void expect_kind(FileKind expected, const ByteSource& bytes, const std::string& reader,
                 const std::string& file);

}  // namespace halfgrad::files
