#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <halfgrad/io/tensor_map.h>

/// NumPy's file of one array, and its archive of named ones.
namespace halfgrad::io {

/// Reads versions 1.0, 2.0 and 3.0, either byte order, either index order; the result is row-major,
/// on the CPU. Throws FormatError for a file that breaks any rule of the format, goes on behind its
/// data, has a header of more than 10 000 bytes (NumPy's limit), or has elements that halfgrad has
/// no type for; for those that NumPy would unpickle, above all.
Tensor load_npy(const std::filesystem::path& path);

/// The same for bytes in memory; `name` stands for the file in messages.
Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name = "memory");

/// Replaces the file as a whole, with the bytes that NumPy 2 writes. Throws std::invalid_argument
/// for an undefined tensor and for bfloat16, which NumPy has not; std::runtime_error where writing
/// fails.
void save_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Reads a zip archive whose members are .npy files, stored or deflated; the names are without the
/// .npy. Members are never written to disk. Throws FormatError for what load_npy refuses, and for
/// an archive that is damaged, encrypted, in parts, overlapping, with two members of a name, with a
/// name that leads out of a folder, or unpacking to more than it says.
TensorMap load_npz(const std::filesystem::path& path);
TensorMap parse_npz(std::span<const std::byte> bytes, const std::string& name = "memory");

/// Replaces the file as a whole: members in the order of their names, stored, dated 1980, so that
/// the same tensors give the same bytes. Throws as save_npy, and std::invalid_argument for a name
/// that load_npz would refuse.
void save_npz(const std::filesystem::path& path, const TensorMap& tensors);

}  // namespace halfgrad::io
