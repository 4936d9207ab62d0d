#pragma once

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/dlpack_abi.h>

namespace halfgrad::io {

/// Returns a DLPack 1.1 tensor that shares this one's memory with another framework: writable, with
/// strides. The receiver must call its deleter once, from any thread; the memory stays allocated
/// until then. On a GPU, the values are complete after the work queued on the current stream.
/// Throws std::invalid_argument for an undefined tensor, and for one that requires a gradient,
/// because autograd cannot see writes of others; detach() it.
dlpack::ManagedTensorVersioned* to_dlpack(const Tensor& tensor);

struct FromDlpackOptions {
  bool copy = false;  ///< copies the elements instead of sharing the memory
};

/// Shares another framework's memory, and releases it with the last view of the result. Releases it
/// at once if the tensor is empty or copied. Owns `tensor` in every case: calls its deleter once,
/// even if it throws, unless the deleter is null.
///
/// Throws FormatError, whose offset is that of the member in the structure, for a major version
/// other than 1, for dtypes or devices that halfgrad lacks, for more than 8 dimensions, for
/// negative sizes or strides, for null or misaligned data, and, unless it copies, for read-only
/// memory, for overlapping elements and for bools whose byte is neither 0 nor 1; a copy makes every
/// byte other than 0 true. Throws std::invalid_argument for a null pointer.
Tensor from_dlpack(dlpack::ManagedTensorVersioned* tensor, FromDlpackOptions options = {});
Tensor from_dlpack(dlpack::ManagedTensor* tensor, FromDlpackOptions options = {});

}  // namespace halfgrad::io
