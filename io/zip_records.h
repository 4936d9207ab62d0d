#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <halfgrad/files/byte_reader.h>

/// Constants of PKWARE's APPNOTE.TXT 6.3.10, with its section numbers, for reader and writer.
namespace halfgrad::io::detail {

inline constexpr std::uint32_t kLocalHeader = 0x04034B50;      // 4.3.7
inline constexpr std::uint32_t kDirectoryHeader = 0x02014B50;  // 4.3.12
inline constexpr std::uint32_t kZip64EndRecord = 0x06064B50;   // 4.3.14
inline constexpr std::uint32_t kZip64Locator = 0x07064B50;     // 4.3.15
inline constexpr std::uint32_t kEndRecord = 0x06054B50;        // 4.3.16

// Sizes in bytes, without names, extra fields and comments.
inline constexpr std::uint64_t kDirectoryHeaderSize = 46, kEndRecordSize = 22;
inline constexpr std::uint64_t kZip64EndRecordSize = 56, kZip64LocatorSize = 20;

inline constexpr std::uint16_t kStored = 0, kDeflated = 8;                             // 4.4.5
inline constexpr std::uint16_t kEncrypted = 1, kDataDescriptor = 8, kUtf8Name = 2048;  // 4.4.4
inline constexpr std::uint16_t kZip64Extra = 1;                                        // 4.5.3
inline constexpr std::uint32_t kInZip64Extra = 0xFFFFFFFF;

/// Reads the next field of a record.
template <class T>
T next(files::ByteReader& record) {
  return record.read_integer<T>(std::endian::little, "a zip record");
}

/// Returns the CRC-32 of zip and gzip; `so_far` is the checksum of the preceding bytes.
std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t so_far = 0);

}  // namespace halfgrad::io::detail
