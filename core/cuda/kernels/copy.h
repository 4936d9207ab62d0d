#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Copies `bytes` contiguous bytes; at least one array is on a GPU. The copy is queued on the GPU's
/// current stream (the source's, between two GPUs). The host waits for a copy to host memory that
/// is not pinned, and for a copy from memory that other code has page-locked.
void transfer(const Array& target, const Array& source, std::size_t bytes);

/// Sets target[i] = source[i]: converted, or bit for bit between equal dtypes. Shapes and devices
/// are equal.
void copy_on_cuda(const Array& target, const Array& source);

/// Sets every element of `target` to the one element of `value`, which has the same dtype and is on
/// the CPU.
void fill_on_cuda(const Array& target, const Array& value);

}  // namespace halfgrad::detail
