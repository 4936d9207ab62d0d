#pragma once
// IDX, the format of MNIST and its relatives (LeCun, Cortes, Burges, "The MNIST database"): two
// zero bytes, a type code, the number of dimensions, each dimension as a big-endian uint32, then
// the elements in C order, big-endian.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/core/dtype.h>

namespace halfgrad::data {

struct IdxFile {
  DType dtype;                // u8, i32, f32 or f64; 8- and 16-bit signed files are widened to i32
  std::vector<int64_t> dims;  // 1 to 8 of them, each below 2^32
  std::vector<std::byte> data;  // in C order and this machine's byte order; NaNs keep their bits
};

/// Reads a plain or gzipped file, whichever its first two bytes say. Nothing is allocated that the
/// file's size cannot account for. Throws files::FormatError, at a byte of the unpacked data, for a
/// file that cannot be read or breaks any rule: unknown type, 0 or more than 8 dimensions, too few
/// or too many bytes, a gzip stream that is damaged, truncated or followed by anything, a second
/// gzip member included.
IdxFile read_idx(const std::filesystem::path& path);

/// The same for bytes in memory; `name` stands for the file in messages.
IdxFile parse_idx(std::span<const std::byte> bytes, const std::string& name = "memory");

/// Writes a plain file under another name and renames it, so that nobody sees half of one. Throws
/// invalid_argument for contents that no IDX file can hold, runtime_error where writing fails.
void write_idx(const std::filesystem::path& path, const IdxFile& file);

}  // namespace halfgrad::data
