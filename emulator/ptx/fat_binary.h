#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfgrad::emulator {

/// One piece of a fat binary: PTX text, or machine code of one architecture.
struct FatBinaryEntry {
  enum class Kind : std::uint8_t { ptx, machine_code, other };
  enum class Compression : std::uint8_t { none, lz4, zstd, unknown };

  Kind kind = Kind::other;
  unsigned architecture = 0;  ///< 80 for sm_80
  Compression compression = Compression::none;
  std::uint64_t text_bytes = 0;  ///< after decompression; 0 if not compressed
  std::span<const std::byte> bytes;
};

/// Entries of a fat binary, as nvcc embeds it and __cudaRegisterFatBinary receives it. Throws
/// std::runtime_error if the bytes are not one.
std::vector<FatBinaryEntry> entries(const void* fat_binary);

/// Entries of all fat binaries in a file: a program, a library, an object file or a .fatbin.
std::vector<FatBinaryEntry> entries_in_file(std::string_view content);

/// The PTX text of an entry, decompressed. Throws std::runtime_error if decompression fails.
std::string ptx(const FatBinaryEntry& entry);

/// The PTX text for the highest architecture that is not above `most`. Throws std::runtime_error,
/// which says how to build a program, if there is none.
std::string best_ptx(std::span<const FatBinaryEntry> entries, unsigned most);

}  // namespace halfgrad::emulator
