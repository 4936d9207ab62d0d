#pragma once

#include <cstdint>
#include <type_traits>

#include <halfgrad/core/cuda/engines/load_store.h>

namespace halfgrad::detail {

/// Calls f with the stored type of a pack: float, Half or BFloat16, computed in float. 8-byte
/// elements coalesce one per thread, so they need no vector path.
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

/// Returns how many of n elements are in the pack that starts at `index`.
inline __device__ int pack_count(std::int64_t index, std::int64_t n) {
  return n - index < kPerThread ? static_cast<int>(n - index) : kPerThread;
}

/// Loads `count` elements and fills the pack with zeros. It must be aligned as for load_pack.
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

/// An operand of any dtype and strides. Kernels for packs and for elements have the same views:
/// load(at, count, x) and store(at, count, x) move kElements elements, of which `count` exist.
struct SingleView {
  static constexpr int kElements = 1;

  StridedView view;

  template <class T>
  __device__ void load(std::int64_t at, int, T (&x)[1]) const {
    x[0] = view.load<T>(at);
  }
  template <class T>
  __device__ void store(std::int64_t at, int, const T (&x)[1]) const {
    view.store(at, x[0]);
  }
};

/// An operand that may allow packs, which start at multiples of kPerThread.
struct PackView : StridedView {
  static constexpr int kElements = kPerThread;

  PackView(const Array& array, const Shape& sizes);

  /// The elements of a pack: at any addresses, one element repeated, or contiguous and aligned.
  enum class Packs : std::uint8_t { scattered, repeated, contiguous };
  Packs packs;

  bool can_load() const { return packs == Packs::repeated || can_store(); }
  bool can_store() const {
    return packs == Packs::contiguous && (dtype == DType::f32 || is_reduced(dtype));
  }

  __device__ void load(std::int64_t at, int count, float (&x)[kPerThread]) const {
    if (packs == Packs::repeated) return load_repeated(data, dtype, short_offset(at), x);
    load_packed(data, dtype, short_offset(at), count, x);
  }
  __device__ void store(std::int64_t at, int count, const float (&x)[kPerThread]) const {
    store_packed(data, dtype, short_offset(at), count, x);
  }
};

/// Adds the elements that start at `at` and are below `end` to a reduction's accumulator.
template <class T, class Accumulator, class View>
__device__ void accumulate(Accumulator& accumulator, const View& view, std::int64_t at,
                           std::int64_t end) {
  T x[View::kElements];
  const int count = pack_count(at, end);
  view.load(at, count, x);
#pragma unroll
  for (int k = 0; k < View::kElements; ++k) {
    if (k < count) accumulator.add(x[k]);
  }
}

// A pack must not cross the end of a contiguous run, and must be aligned.
inline PackView::PackView(const Array& array, const Shape& sizes)
    : StridedView(array, sizes), packs(Packs::scattered) {
  bool whole = contiguous || (short_index && (dims == 1 || size[0] % kPerThread == 0));
  if (whole && !contiguous && stride[0] == 0) packs = Packs::repeated;
  for (int d = 1; d < dims; ++d) whole = whole && stride[d] % kPerThread == 0;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  if (whole && aligned && (contiguous || stride[0] == 1)) packs = Packs::contiguous;
}

}  // namespace halfgrad::detail
