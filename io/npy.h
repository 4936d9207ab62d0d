#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <halfgrad/files/read_options.h>
#include <halfgrad/io/tensor_map.h>

/// NumPy's file formats: .npy holds one array, .npz is an archive of named arrays.
namespace halfgrad::io {

/// Reads versions 1.0, 2.0 and 3.0 in either byte order, row-major or column-major; the result is
/// row-major, on the CPU. uint16 and uint32, which tensors lack, become int64. Throws FormatError
/// for a file that breaks any rule of the format, has bytes after its data, has a header of more
/// than 10 000 bytes (NumPy's limit), or has a dtype that halfgrad lacks. It never unpickles Python
/// objects, which could run code.
Tensor load_npy(const std::filesystem::path& path);

/// Reads bytes in memory as load_npy() reads a file; messages call them `name`.
Tensor parse_npy(std::span<const std::byte> bytes, const std::string& name = "memory");

/// Replaces the file atomically, with the bytes that NumPy 2 writes. Throws std::invalid_argument
/// for an undefined tensor and for bfloat16, which NumPy lacks; std::runtime_error if writing
/// fails.
void save_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Reads a zip archive whose members are .npy files, stored or deflated; the names omit the ".npy".
/// Never writes members to disk. Throws FormatError as load_npy() does, and for an archive that is
/// damaged, encrypted, split, has overlapping members, two members of one name or a name that leads
/// out of a folder (as "../x"), or unpacks to more bytes than it announces, or than
/// options.max_unpacked_bytes, 1 GiB by default.
TensorMap load_npz(const std::filesystem::path& path, const files::ReadOptions& options = {});
TensorMap parse_npz(std::span<const std::byte> bytes, const std::string& name = "memory",
                    const files::ReadOptions& options = {});

/// Replaces the file atomically. Members are sorted by name, not compressed and dated 1980, so that
/// the same tensors give the same bytes. Throws as save_npy, and std::invalid_argument for a name
/// that load_npz does not accept.
void save_npz(const std::filesystem::path& path, const TensorMap& tensors);

}  // namespace halfgrad::io
