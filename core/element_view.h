#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/hd.h>
#include <halfgrad/core/tile.h>

namespace halfgrad::detail {

/// Element i, in row-major order, of a strided array whose elements are stored as T: for functors
/// of parallel_for_each, so it is all numbers, and works wherever `data` lies.
template <class T>
struct ElementView {
  /// T is the array's stored type, or an integer as long where only bits are moved.
  explicit ElementView(const Array& array) : data(array.data_as<T>()) {
    const Layout layout(array, array.sizes());
    dims = layout.dims();
    for (int d = 0; d < dims; ++d) {
      size[d] = layout.size(d);
      stride[d] = layout.stride(d);
    }
  }

  HG_HD std::int64_t offset(std::int64_t i) const {
    std::int64_t offset = 0;
    for (int d = dims - 1; d > 0; --d) {
      const std::int64_t rest = i / size[d];
      offset += (i - rest * size[d]) * stride[d];
      i = rest;
    }
    return dims == 0 ? 0 : offset + i * stride[0];
  }
  HG_HD T& operator[](std::int64_t i) const { return data[offset(i)]; }

  T* data;
  int dims = 0;
  std::int64_t size[kMaxDims] = {};
  std::int64_t stride[kMaxDims] = {};
};

/// Calls f with std::type_identity of the unsigned integer as long as an element of `dtype`, for
/// work that moves numbers and computes none.
template <class F>
void visit_bits(DType dtype, const F& f) {
  switch (item_size(dtype)) {
    case 1:
      return f(std::type_identity<std::uint8_t>{});
    case 2:
      return f(std::type_identity<std::uint16_t>{});
    case 4:
      return f(std::type_identity<std::uint32_t>{});
    default:
      return f(std::type_identity<std::uint64_t>{});
  }
}

}  // namespace halfgrad::detail
