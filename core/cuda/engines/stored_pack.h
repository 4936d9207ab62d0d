#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/engines/pack_view.h>

namespace halfgrad::detail {

/// A whole pack as it is stored. Loading and widening are separate, so that a kernel can issue the
/// loads of all its operands before it waits for the first.
class StoredPack {
 public:
  __device__ void load(const std::byte* data, DType dtype, std::int64_t index) {
    const bool wide = dtype == DType::f32;
    const auto* const source = reinterpret_cast<const uint4*>(data + index * (wide ? 4 : 2));
    words_[0] = source[0];
    if (wide) words_[1] = source[1];
  }
  __device__ void widen(DType dtype, float (&values)[kPerThread]) const {
    with_packed_type(dtype, [&](auto tag) {
      Moved<typename decltype(tag)::type, kPerThread> moved;
#pragma unroll
      for (int i = 0; i < moved.kAccesses; ++i) moved.accesses[i] = words_[i];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) values[i] = convert_on_device<float>(moved.elements[i]);
    });
  }

 private:
  uint4 words_[2];
};

}  // namespace halfgrad::detail
