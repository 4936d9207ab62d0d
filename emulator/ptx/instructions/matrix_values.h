#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/emulator/ptx/instructions/matrix.h>
#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

// Conversions between the bits of matrix elements and the values that a product computes with:
// doubles for floating-point types, 32-bit integers for integers and for words of 32 elements of
// b1. tf32 ignores the low 13 bits of a register.

/// Writes the elements of a fragment's registers into a row-major matrix.
void unpack_fragment(const Execution& execution, const Offset* registers,
                     const FragmentLayout& layout, Element type, double* matrix);
void unpack_fragment(const Execution& execution, const Offset* registers,
                     const FragmentLayout& layout, Element type, std::int32_t* matrix);

/// Writes a row-major matrix into a fragment's registers. Floats are rounded to nearest, and NaN
/// becomes the canonical NaN. Integers are s32.
void pack_fragment(const Execution& execution, const Offset* registers,
                   const FragmentLayout& layout, Element type, const double* matrix);
void pack_fragment(const Execution& execution, const Offset* registers,
                   const FragmentLayout& layout, Element type, const std::int32_t* matrix);

/// Bytes of shared memory that a matrix descriptor's layouts keep together.
inline constexpr unsigned kChunkBytes = 16;

/// Reads the elements of 16 bytes of memory.
void read_chunk(Element type, const std::byte* chunk, double* values);
void read_chunk(Element type, const std::byte* chunk, std::int32_t* values);

}  // namespace halfgrad::emulator
