#pragma once

#include <cstddef>
#include <type_traits>

#include <halfgrad/core/gemm.h>

namespace halfgrad::detail {

/// Returns the MatrixView or MutableMatrixView moved by a number of elements. The data of an empty
/// matrix may be null, and stay so.
template <class View>
View advanced(View view, std::int64_t elements) {
  using Byte = std::conditional_t<std::is_same_v<View, MatrixView>, const std::byte, std::byte>;
  if (view.data != nullptr) {
    view.data = static_cast<Byte*>(view.data) + elements * item_size(view.dtype);
  }
  return view;
}

}  // namespace halfgrad::detail
