#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <span>
#include <string>

#include <halfgrad/io/tensor_map.h>

/// safetensors (github.com/huggingface/safetensors): a file format of named row-major tensors,
/// which contains no code. Keeps the bits of every element, NaNs included.
namespace halfgrad::io {

using Metadata = std::map<std::string, std::string>;

/// A file's tensors by name, and its metadata.
struct Safetensors {
  TensorMap tensors;  ///< on the CPU
  Metadata metadata;
};

/// Reads a file without converting dtypes, except that uint16 and uint32, which tensors lack,
/// become int64. Throws FormatError for a file that breaks any rule of the format,
/// for more than 8 dimensions, and for dtypes that halfgrad lacks: 8-bit floats, uint64, complex
/// numbers. Never allocates more than the file's size can justify.
Safetensors load_safetensors(const std::filesystem::path& path);

/// Reads bytes in memory as load_safetensors() reads a file; messages call them `name`.
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name = "memory");

/// Replaces the file atomically (files/replace_file.h). The bytes depend only on tensors and
/// metadata, and equal those of Hugging Face's writer: larger dtypes first, then sorted by name.
/// Tensors that share memory are each written in full. Throws std::invalid_argument for undefined
/// tensors, for text that is not UTF-8 and for the name "__metadata__", std::runtime_error if
/// writing fails.
void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const Metadata& metadata = {});
/// Writes the same bytes to a stream. Throws std::runtime_error if the stream fails.
void write_safetensors(std::ostream& stream, const TensorMap& tensors,
                       const Metadata& metadata = {});

}  // namespace halfgrad::io
