#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/core/dtype.h>
#include <halfgrad/files/byte_source.h>
#include <halfgrad/io/stored_type.h>

/// The header of a safetensors file, which precedes the data
/// (github.com/huggingface/safetensors, README.md and safetensors/src/tensor.rs):
///
///   8 bytes    N, little-endian
///   N bytes    JSON: name -> {"dtype", "shape", "data_offsets": [begin, end)}, "__metadata__"
///   the rest   the data: every byte belongs to one tensor
namespace halfgrad::io::detail {

/// The header's entry of one tensor.
struct SafetensorsEntry {
  std::string name;
  std::string dtype = {};  ///< in the format's spelling, such as "F32"
  std::vector<std::uint64_t> shape = {};
  std::uint64_t begin = 0, end = 0;  ///< byte offsets from data_start
  std::uint64_t described_at = 0;    ///< byte offset of the entry in the file
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries = {};  ///< sorted by their data
  std::map<std::string, std::string> metadata = {};
  std::uint64_t data_start = 0;  ///< byte offset of the data in the file
};

/// Reads the header and checks everything except the elements. Throws files::FormatError for the
/// first fault, checked in this order: size of the header, text, syntax, entries, coverage of the
/// data.
SafetensorsHeader parse_safetensors_header(const files::ByteSource& file, const std::string& name);

/// Returns the first 8 + N bytes of the file; N is a multiple of 8. Throws std::invalid_argument if
/// N exceeds 100 000 000.
std::string format_safetensors_header(const SafetensorsHeader& header);

/// Converts between a dtype and the format's name for it; returns nullopt if halfgrad lacks the
/// type. U16 and U32 are read as int64.
std::string_view safetensors_dtype(DType dtype);
std::optional<DType> dtype_of_safetensors(std::string_view name);
std::optional<Unsigned> unsigned_of_safetensors(std::string_view name);

/// Position of a dtype in the format's order; files store higher ranks, which are larger, first.
int safetensors_rank(DType dtype);

}  // namespace halfgrad::io::detail
