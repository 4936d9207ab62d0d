#pragma once

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// Copies `bytes` dense bytes; at least one array lies on a GPU. Queued on the GPU's current stream
/// (the source's, between two). The host waits only for memory of its own that is not pinned to be
/// filled.
void transfer(const Array& target, const Array& source, std::size_t bytes);

/// target[i] = source[i], converted, or bit for bit between equal dtypes; shapes and devices equal.
void copy_on_cuda(const Array& target, const Array& source);

/// Every element of `target` becomes the one element of `value`, which has its dtype and lies on
/// the CPU.
void fill_on_cuda(const Array& target, const Array& value);

}  // namespace halfgrad::detail
