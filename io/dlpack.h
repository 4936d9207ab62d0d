#pragma once

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/dlpack_abi.h>

namespace halfgrad::io {

/// A tensor that shares this one's memory, for another framework: of version 1.1, writable, with
/// strides. Its deleter, which the receiver must call once, from any thread, keeps the memory until
/// then. On a GPU the numbers are those of work queued on the current stream.
/// Throws std::invalid_argument for an undefined tensor, and for one that requires a gradient: what
/// others write there, autograd does not see; detach() it.
dlpack::ManagedTensorVersioned* to_dlpack(const Tensor& tensor);

struct FromDlpackOptions {
  bool copy = false;  ///< the numbers, instead of sharing the memory
};

/// Shares another framework's memory, which is let go of with the last view of the result. A tensor
/// without elements is let go of at once, as is one that is copied. Takes charge of `tensor` in any
/// case: its deleter is called once, also where this throws; a null deleter is nobody's to call.
///
/// Throws FormatError, with the place in the structure as its byte, for a major version other than
/// 1 (of which nothing else is read), for elements or devices that halfgrad has not, for more than
/// 8 dimensions, for negative sizes or strides, for null and misaligned data, and, unless it
/// copies, for memory that is read-only or in which elements overlap. std::invalid_argument for
/// null.
Tensor from_dlpack(dlpack::ManagedTensorVersioned* tensor, FromDlpackOptions options = {});
Tensor from_dlpack(dlpack::ManagedTensor* tensor, FromDlpackOptions options = {});

}  // namespace halfgrad::io
