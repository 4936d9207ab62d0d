#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/shape.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/dlpack_abi.h>

namespace halfgrad::io::detail {

/// A tensor as it was described, once that is found to make sense.
struct DlpackView {
  void* data;  ///< null where there are no elements
  Shape sizes, strides;
  DType dtype;
  Device device;
  bool overlaps;  ///< some elements are one and the same number
};

/// Throws FormatError as from_dlpack, but for what concerns sharing. Nothing is read at `data`.
DlpackView checked_view(const dlpack::Tensor& tensor);

/// Fails at a member of a structure.
[[noreturn]] void fail_dlpack(files::FormatCode code, std::uint64_t offset,
                              const std::string& expected, const std::string& got,
                              const std::string& fix = {});

}  // namespace halfgrad::io::detail
