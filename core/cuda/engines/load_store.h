#pragma once

#if !defined(__CUDACC__)
#error "expected nvcc: this header is for kernels"
#endif

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <halfgrad/core/engines/tile.h>
#include <halfgrad/core/numbers/convert.h>

/// Loads and stores of kernels whose dtypes are known at run time: elements widen to the compute
/// type T (float, double or int64_t) on load and are rounded once on store. The dtype is the same
/// for all threads, so the switch costs a jump, and one kernel serves every dtype.
namespace halfgrad::detail {

/// Elements a thread handles at a time: 16 bytes of 16-bit elements.
inline constexpr int kPerThread = 8;

template <class F>
__device__ void with_stored_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f64:
      return f(std::type_identity<double>{});
    case DType::f32:
      return f(std::type_identity<float>{});
    case DType::f16:
      return f(std::type_identity<Half>{});
    case DType::bf16:
      return f(std::type_identity<BFloat16>{});
    case DType::i64:
      return f(std::type_identity<std::int64_t>{});
    case DType::i32:
      return f(std::type_identity<std::int32_t>{});
    case DType::u8:
      return f(std::type_identity<std::uint8_t>{});
    case DType::boolean:
      return f(std::type_identity<bool>{});
    case DType::i16:
      return f(std::type_identity<std::int16_t>{});
    case DType::i8:
      return f(std::type_identity<std::int8_t>{});
  }
}

/// Converts as detail::convert does, with hardware instructions where they exist.
template <class To, class From>
__device__ To convert_on_device(From x) {
  if constexpr (std::is_same_v<From, Half> && !std::is_same_v<To, Half>) {
    return convert<To>(__half2float(__ushort_as_half(x.bits)));
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) {
    return Half::from_bits(__half_as_ushort(__float2half_rn(x)));
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, BFloat16>) {
    return BFloat16::from_bits(__bfloat16_as_ushort(__float2bfloat16_rn(x)));
  } else {
    return convert<To>(x);
  }
}

/// Loads element `index` of memory at `data`.
template <class T>
__device__ T load(const std::byte* data, DType dtype, std::int64_t index) {
  T value;
  with_stored_type(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    value = convert_on_device<T>(reinterpret_cast<const S*>(data)[index]);
  });
  return value;
}

template <class T>
__device__ void store(std::byte* data, DType dtype, std::int64_t index, T value) {
  with_stored_type(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    reinterpret_cast<S*>(data)[index] = convert_on_device<S>(value);
  });
}

/// N stored elements, and the same memory as the widest possible accesses, of up to 16 bytes.
template <class S, int N>
union Moved {
  static constexpr int kBytes = N * static_cast<int>(sizeof(S));
  using Access = std::conditional_t<kBytes % 16 == 0, uint4,
                                    std::conditional_t<kBytes % 8 == 0, uint2, unsigned>>;
  static constexpr int kAccesses = kBytes / static_cast<int>(sizeof(Access));
  static_assert(kBytes % static_cast<int>(sizeof(Access)) == 0);

  __device__ Moved() {}

  Access accesses[kAccesses];
  S elements[N];
};

template <class T, class S, int N>
__device__ void read_pack(const S* source, T (&values)[N]) {
  using Access = typename Moved<S, N>::Access;
  Moved<S, N> moved;
#pragma unroll
  for (int i = 0; i < Moved<S, N>::kAccesses; ++i) {
    moved.accesses[i] = reinterpret_cast<const Access*>(source)[i];
  }
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = convert_on_device<T>(moved.elements[i]);
}

template <class T, class S, int N>
__device__ void write_pack(S* target, const T (&values)[N]) {
  using Access = typename Moved<S, N>::Access;
  Moved<S, N> moved;
#pragma unroll
  for (int i = 0; i < N; ++i) moved.elements[i] = convert_on_device<S>(values[i]);
#pragma unroll
  for (int i = 0; i < Moved<S, N>::kAccesses; ++i) {
    // A plain assignment copies the members of an access, which nvcc may store one by one.
    __stwb(reinterpret_cast<Access*>(target) + i, moved.accesses[i]);
  }
}

/// Loads elements [index, index + N) of memory at `data`. The first must be aligned to 16 bytes, or
/// to the size of all N if that is less: see StridedView::in_packs.
template <class T, int N>
__device__ void load_pack(const std::byte* data, DType dtype, std::int64_t index, T (&values)[N]) {
  with_stored_type(dtype, [&](auto tag) {
    read_pack(reinterpret_cast<const typename decltype(tag)::type*>(data) + index, values);
  });
}

template <class T, int N>
__device__ void store_pack(std::byte* data, DType dtype, std::int64_t index, const T (&values)[N]) {
  with_stored_type(dtype, [&](auto tag) {
    write_pack(reinterpret_cast<typename decltype(tag)::type*>(data) + index, values);
  });
}

/// An operand of a kernel, passed by value: element i, in row-major order of the shape it is
/// broadcast to, is at offset(i). Dimensions are merged where strides allow, innermost first.
struct StridedView {
  StridedView(const Array& array, const Shape& sizes);

  std::byte* data;
  DType dtype;
  bool contiguous;   ///< offset(i) is i
  bool short_index;  ///< every i fits in 32 bits, in which division is fast
  int dims;          ///< at least 1
  std::int64_t size[kMaxDims];
  std::int64_t stride[kMaxDims];

  /// Whether load_pack and store_pack may be used at multiples of kPerThread.
  bool in_packs() const { return contiguous && reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

  __device__ std::int64_t offset(std::int64_t index) const {
    return contiguous || short_index ? short_offset(index)
                                     : offset_of(static_cast<std::uint64_t>(index));
  }
  /// offset() for views that are contiguous or short_index.
  __device__ std::int64_t short_offset(std::int64_t index) const {
    return contiguous ? index : offset_of(static_cast<std::uint32_t>(index));
  }
  template <class T>
  __device__ T load(std::int64_t index) const {
    return detail::load<T>(data, dtype, offset(index));
  }
  template <class T>
  __device__ void store(std::int64_t index, T value) const {
    detail::store(data, dtype, offset(index), value);
  }

 private:
  template <class Index>
  __device__ std::int64_t offset_of(Index index) const {
    std::int64_t offset = 0;
#pragma unroll  // so that size and stride stay in constant memory
    for (int d = 0; d < kMaxDims; ++d) {
      if (d + 1 == dims) return offset + static_cast<std::int64_t>(index) * stride[d];
      const Index quotient = index / static_cast<Index>(size[d]);
      const Index remainder = index - quotient * static_cast<Index>(size[d]);
      offset += static_cast<std::int64_t>(remainder) * stride[d];
      index = quotient;
    }
    return offset;
  }
};

inline StridedView::StridedView(const Array& array, const Shape& sizes)
    : data(array.data()),
      dtype(array.dtype()),
      short_index(numel(sizes) <= INT32_MAX),
      size{},
      stride{} {
  const MergedStrides merged(array, sizes);
  contiguous = merged.contiguous();
  dims = merged.dims() > 0 ? merged.dims() : 1;
  for (int d = 0; d < merged.dims(); ++d) {
    size[d] = merged.size(merged.dims() - 1 - d);
    stride[d] = merged.stride(merged.dims() - 1 - d);
  }
}

}  // namespace halfgrad::detail
