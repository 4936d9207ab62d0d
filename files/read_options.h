#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/core/language.h>
#include <halfgrad/files/byte_reader.h>

namespace halfgrad::files {

/// Options of the readers of files that may be compressed.
struct ReadOptions {
  /// Largest number of bytes that the compressed parts of one file may unpack to, together. A small
  /// file can unpack to 1032 times its size, and so fill the memory.
  std::uint64_t max_unpacked_bytes = std::uint64_t{1} << 30;
};

/// Fails with `too_large` if a file unpacks to more than the option allows.
inline void check_unpacked(std::uint64_t bytes, const ReadOptions& options,
                           const ByteReader& input) {
  if (bytes <= options.max_unpacked_bytes) return;
  input.fail(FormatCode::too_large,
             "at most " + std::to_string(options.max_unpacked_bytes) + " unpacked bytes",
             std::to_string(bytes),
             "pass {.max_unpacked_bytes = " + std::to_string(bytes) + "} if you trust the file");
}

}  // namespace halfgrad::files
