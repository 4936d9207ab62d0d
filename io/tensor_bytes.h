#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/files/byte_reader.h>

namespace halfgrad::io::detail {

/// How the elements of a file are to be understood.
struct Elements {
  DType dtype;
  std::span<const std::uint64_t> sizes;
  std::span<const std::byte> bytes;  ///< as many as the sizes say
  std::uint64_t offset;              ///< in the file
  std::endian order = std::endian::little;
};

/// A row-major copy on the CPU. Fails for more than kMaxDims sizes, and for truth values that are
/// neither 0 nor 1.
Tensor tensor_of(const Elements& elements, const files::ByteReader& input);

/// A tensor's numbers as files hold them: row-major, on the CPU, little-endian.
Array stored_array(const Tensor& tensor);
std::span<const std::byte> bytes_of(const Array& array);

}  // namespace halfgrad::io::detail
