#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <halfgrad/core/dtype.h>

/// What stands before the data of a safetensors file
/// (github.com/huggingface/safetensors, README.md and safetensors/src/tensor.rs):
///
///   8 bytes    N, little-endian
///   N bytes    JSON: name -> {"dtype", "shape", "data_offsets": [begin, end)}, "__metadata__"
///   the rest   the data: every byte belongs to one tensor
namespace halfgrad::io::detail {

struct SafetensorsEntry {
  std::string name;
  std::string dtype = {};  ///< the format's name
  std::vector<std::uint64_t> shape = {};
  std::uint64_t begin = 0, end = 0;  ///< bytes of the data
  std::uint64_t described_at = 0;    ///< byte of the file
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries = {};  ///< in the order of their data
  std::map<std::string, std::string> metadata = {};
  std::uint64_t data_start = 0;  ///< byte of the file
};

/// Checks everything but what the numbers are. Throws files::FormatError in this order: the size of
/// the header, its text, its syntax, each entry, then that the entries cover the data.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file,
                                           const std::string& name);

/// The first 8 + N bytes of the file; N is a multiple of 8. Throws std::invalid_argument where N
/// would be above 100 000 000.
std::string format_safetensors_header(const SafetensorsHeader& header);

/// The format's name, and halfgrad's type of that name, if it has one.
std::string_view safetensors_dtype(DType dtype);
std::optional<DType> dtype_of_safetensors(std::string_view name);

/// Where the format sorts a type: files hold larger elements first.
int safetensors_rank(DType dtype);

}  // namespace halfgrad::io::detail
