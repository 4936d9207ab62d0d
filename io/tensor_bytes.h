#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/files/byte_reader.h>
#include <halfgrad/io/stored_type.h>

namespace halfgrad::io::detail {

/// Describes the elements in a file, which must contain all of them.
struct Elements {
  DType dtype;
  std::optional<Unsigned> stored = std::nullopt;  ///< if set, dtype is kInt64
  std::span<const std::uint64_t> sizes;
  std::uint64_t offset;  ///< byte offset of the elements in the file
  std::endian order = std::endian::little;
};

/// Reads the elements into a row-major array on the CPU. Fails for more than kMaxDims sizes, and
/// for bool elements other than 0 and 1.
Tensor tensor_of(const Elements& elements, const files::ByteReader& input);

/// Returns a tensor's elements as files store them: row-major, little-endian, on the CPU.
Array stored_array(const Tensor& tensor);
std::span<const std::byte> bytes_of(const Array& array);

}  // namespace halfgrad::io::detail
