#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/core/dtype.h>
#include <halfgrad/files/byte_reader.h>
#include <halfgrad/io/stored_type.h>

/// The header of a .npy file, which precedes the data (numpy/lib/_format_impl.py):
///
///   6 bytes    "\x93NUMPY"
///   2 bytes    version: 1.0, 2.0 or 3.0
///   2 bytes    N, little-endian; 4 bytes from version 2.0 on
///   N bytes    a Python dict literal with 'descr', 'fortran_order' and 'shape', spaces, a newline
namespace halfgrad::io::detail {

/// The contents of a header, and where the data lies in the file.
struct NpyHeader {
  DType dtype = kFloat32;
  std::optional<Unsigned> stored = std::nullopt;  ///< the type in the file, if tensors lack it
  std::endian order = std::endian::little;
  bool fortran_order = false;  ///< the first index varies fastest
  std::vector<std::uint64_t> shape = {};
  std::uint64_t data_start = 0;  ///< in bytes, as data_size
  std::uint64_t data_size = 0;
};

/// Reads a file's header, and checks that the data has the size that the header announces.
NpyHeader parse_npy_header(files::ByteReader& input);

/// Returns the header as NumPy 2 writes it.
std::string format_npy_header(DType dtype, std::span<const std::int64_t> shape);

/// Returns NumPy's name of a dtype, such as "<f4". Throws std::invalid_argument for bfloat16, which
/// has none.
std::string npy_descr(DType dtype);

}  // namespace halfgrad::io::detail
