#pragma once

#include <map>
#include <string>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/files/format_error.h>

namespace halfgrad::io {

using files::FormatCode;
using files::FormatError;

/// Tensors by name, in the order of their names.
using TensorMap = std::map<std::string, Tensor>;

}  // namespace halfgrad::io
