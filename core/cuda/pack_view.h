#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/cuda/load_store.h>

namespace halfgrad::detail {

/// Packs are of floats of 16 and 32 bits, computed in float. With longer numbers an element a
/// thread fills the memory's lines as well, and what is rare is not worth every kernel's code.
template <class F>
__device__ void with_packed_type(DType dtype, const F& f) {
  if (dtype == DType::f32) {
    f(std::type_identity<float>{});
  } else if (dtype == DType::f16) {
    f(std::type_identity<Half>{});
  } else {
    f(std::type_identity<BFloat16>{});
  }
}

/// How many of n elements stand in the pack that begins at `index`.
inline __device__ int pack_count(std::int64_t index, std::int64_t n) {
  return n - index < kPerThread ? static_cast<int>(n - index) : kPerThread;
}

/// The first `count` elements from `index` on. The pack must be aligned as load_pack wants it.
inline __device__ void load_packed(const std::byte* data, DType dtype, std::int64_t index,
                                   int count, float (&values)[kPerThread]) {
  with_packed_type(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    const S* const source = reinterpret_cast<const S*>(data) + index;
    if (count == kPerThread) return read_pack(source, values);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      values[k] = k < count ? convert_on_device<float>(source[k]) : 0.0f;
    }
  });
}

inline __device__ void store_packed(std::byte* data, DType dtype, std::int64_t index, int count,
                                    const float (&values)[kPerThread]) {
  with_packed_type(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    S* const target = reinterpret_cast<S*>(data) + index;
    if (count == kPerThread) return write_pack(target, values);
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      if (k < count) target[k] = convert_on_device<S>(values[k]);
    }
  });
}

inline __device__ void load_repeated(const std::byte* data, DType dtype, std::int64_t index,
                                     float (&values)[kPerThread]) {
  const auto value = load<float>(data, dtype, index);
#pragma unroll
  for (float& copy : values) copy = value;
}

/// A StridedView whose elements may be moved kPerThread at a time, from multiples of kPerThread on,
/// if it has packs for the compute type.
struct PackView : StridedView {
  PackView(const Array& array, const Shape& sizes);

  /// How the elements of a pack lie: not as one access, all in one place, or side by side.
  enum class Packs : std::uint8_t { scattered, repeated, together };
  Packs packs;

  bool can_load() const { return packs == Packs::repeated || can_store(); }
  bool can_store() const {
    return packs == Packs::together && (dtype == DType::f32 || is_reduced(dtype));
  }

  __device__ void load_pack(std::int64_t index, int count, float (&values)[kPerThread]) const {
    if (packs == Packs::repeated) return load_repeated(data, dtype, short_offset(index), values);
    load_packed(data, dtype, short_offset(index), count, values);
  }
  __device__ void store_pack(std::int64_t index, int count,
                             const float (&values)[kPerThread]) const {
    store_packed(data, dtype, short_offset(index), count, values);
  }
};

// No pack may straddle two runs of memory, and each must start on a boundary of its own length.
inline PackView::PackView(const Array& array, const Shape& sizes)
    : StridedView(array, sizes), packs(Packs::scattered) {
  bool whole = contiguous || (short_index && (dims == 1 || size[0] % kPerThread == 0));
  if (whole && !contiguous && stride[0] == 0) packs = Packs::repeated;
  for (int d = 1; d < dims; ++d) whole = whole && stride[d] % kPerThread == 0;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  if (whole && aligned && (contiguous || stride[0] == 1)) packs = Packs::together;
}

}  // namespace halfgrad::detail
