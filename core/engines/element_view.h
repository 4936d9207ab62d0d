#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/core/engines/merged_strides.h>
#include <halfgrad/core/hd.h>

namespace halfgrad::detail {

/// A strided array of stored type T, indexed in row-major order by functors of parallel_for_each.
/// `data` is memory of the array's device.
template <class T>
struct ElementView {
  /// T is the stored type of the array, or an unsigned integer of the same size if only bits move.
  explicit ElementView(const Array& array) : data(array.data_as<T>()) {
    const MergedStrides merged(array, array.sizes());
    dims = merged.dims();
    for (int d = 0; d < dims; ++d) {
      size[d] = merged.size(d);
      stride[d] = merged.stride(d);
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

/// Calls f with std::type_identity of the unsigned integer that is as long as an element of
/// `dtype`, for work that copies elements and computes nothing.
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
