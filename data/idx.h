#pragma once
// IDX, the file format of MNIST (LeCun, Cortes, Burges, "The MNIST database"): two zero bytes, a
// type code, the number of dimensions, each dimension as a big-endian uint32, then the elements in
// row-major order, big-endian.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/core/dtype.h>
#include <halfgrad/files/read_options.h>

namespace halfgrad::data {

/// The array in a file of MNIST's format, IDX.
struct IdxFile {
  DType dtype;                     // u8, i8, i16, i32, f32 or f64
  std::vector<std::int64_t> dims;  // 1 to 8 dimensions, each below 2^32
  std::vector<std::byte> data;     // row-major, in this machine's byte order; NaNs keep their bits
};

/// Reads a plain or a gzipped file; the first two bytes tell which. Never allocates more than the
/// file's size can justify. Throws files::FormatError, with the offset in the unpacked data, for a
/// file that cannot be read or breaks any rule: unknown type, 0 or more than 8 dimensions, too few
/// or too many bytes, or a gzip stream that is damaged, truncated or followed by other bytes, even
/// by a second gzip member, or that unpacks to more than options.max_unpacked_bytes.
IdxFile read_idx(const std::filesystem::path& path, const files::ReadOptions& options = {});

/// Reads bytes in memory as read_idx() reads a file; messages call them `name`.
IdxFile parse_idx(std::span<const std::byte> bytes, const std::string& name = "memory",
                  const files::ReadOptions& options = {});

/// Writes a plain file under a temporary name and renames it, so that nobody sees half a file.
/// Throws std::invalid_argument for contents that no IDX file can hold, and std::runtime_error if
/// writing fails.
void write_idx(const std::filesystem::path& path, const IdxFile& file);

}  // namespace halfgrad::data
