#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include <halfgrad/io/tensor_map.h>

/// safetensors (github.com/huggingface/safetensors): named tensors in row-major order, and nothing
/// that could run. Bits are kept, NaNs' too.
namespace halfgrad::io {

using Metadata = std::map<std::string, std::string>;

struct Safetensors {
  TensorMap tensors;  ///< on the CPU
  Metadata metadata;
};

/// Throws FormatError for a file that breaks any rule of the format, or that holds what a Tensor
/// cannot: a type that halfgrad has not (8-bit floats and signed integers, 16-bit integers,
/// unsigned or complex ones) or more than 8 dimensions. Nothing is converted. Allocates no more
/// than the file's size accounts for.
Safetensors load_safetensors(const std::filesystem::path& path);

/// The same for bytes in memory; `name` stands for the file in messages.
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name = "memory");

/// Replaces the file as a whole (files/replace_file.h). The same tensors and metadata give the same
/// bytes: those of Hugging Face's own writer, whose order, types by falling size and then names, it
/// follows. Tensors that share memory are each written in full. Throws std::invalid_argument for
/// undefined tensors, for text that is not UTF-8 and for the name "__metadata__",
/// std::runtime_error where writing fails.
void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const Metadata& metadata = {});

}  // namespace halfgrad::io
