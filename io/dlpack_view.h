#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/shape.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/dlpack_abi.h>

namespace halfgrad::io::detail {

/// The checked description of a DLPack tensor.
struct DlpackView {
  void* data;  ///< null if there are no elements
  Shape sizes, strides;
  DType dtype;
  Device device;
  bool overlaps;  ///< two elements may share memory
};

/// Checks a description without reading at `data`. Throws FormatError as from_dlpack() does, except
/// for read-only memory and overlapping elements.
DlpackView checked_view(const dlpack::Tensor& tensor);

/// Throws FormatError; `offset` is that of the faulty member in its structure.
[[noreturn]] void fail_dlpack(files::FormatCode code, std::uint64_t offset,
                              const std::string& expected, const std::string& got,
                              const std::string& fix = {});

}  // namespace halfgrad::io::detail
