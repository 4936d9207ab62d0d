#pragma once

#include <cstddef>
#include <cstdint>

#include <library_types.h>

namespace halfgrad::emulator {

/// Bytes of an element; 0 for types that no product here has, such as complex numbers.
std::size_t bytes_of_element(cudaDataType type);

/// Converts `count` elements, `stride` elements apart, to double or back. A double is rounded once,
/// to nearest; integers round to nearest even, and stop at the ends of int8 or wrap as int32.
void read_elements(const std::byte* from, std::int64_t stride, std::int64_t count,
                   cudaDataType type, double* to, std::int64_t to_stride = 1);
void write_elements(const double* from, std::int64_t count, cudaDataType type, std::byte* to,
                    std::int64_t stride, std::int64_t from_stride = 1);

}  // namespace halfgrad::emulator
