#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

/// Products of a warp on tensor cores, by PTX's mma.m16n8k16: 16 x 16 times 16 x 8, with 16-bit
/// operands and float sums. Lane 4 g + t of the warp holds these elements of each matrix (PTX ISA,
/// "Matrix Fragments for mma.m16n8k16"):
///
///     A, 16 x 16           B, 16 x 8         sums, 16 x 8
///     rows g, g + 8        column g          rows g, g + 8
///     columns 2t, 2t + 1,  rows 2t, 2t + 1,  columns 2t, 2t + 1
///       2t + 8, 2t + 9       2t + 8, 2t + 9
///
/// Two sums side by side, 16 x 16, lie as A does. So the result of one layer, rounded, is the
/// operand of the next, and never leaves the registers.
namespace halfgrad::detail {

inline constexpr int kBlock = 16;  ///< rows and columns of a block
inline constexpr int kPad = 8;     ///< elements after each row in shared memory: no bank conflicts

/// A block of A, or two of B side by side: pairs of 16-bit elements. As a block of A:
/// part[0] is row g, part[1] row g + 8, at columns 2t; part[2] and part[3] the same at 2t + 8.
struct Fragment {
  std::uint32_t part[4];
};

/// Two elements of T in a register.
template <class T>
struct PairOf;

template <>
struct PairOf<__half> {
  static constexpr std::uint32_t kOnes = 0x3c003c00;
  static __device__ std::uint32_t narrow(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  }
  static __device__ float2 widen(std::uint32_t bits) {
    return __half22float2(reinterpret_cast<const __half2&>(bits));
  }
  /// max(x, 0), or NaN.
  static __device__ std::uint32_t relu(std::uint32_t bits) {
    const __half2 y = __hmax2_nan(reinterpret_cast<const __half2&>(bits), __half2{});
    return reinterpret_cast<const std::uint32_t&>(y);
  }
  /// All 16 bits of an element that is positive or NaN, 0 for the others.
  static __device__ std::uint32_t passes(std::uint32_t bits) {
    return __hgtu2_mask(reinterpret_cast<const __half2&>(bits), __half2{});
  }
};

template <>
struct PairOf<__nv_bfloat16> {
  static constexpr std::uint32_t kOnes = 0x3f803f80;
  static __device__ std::uint32_t narrow(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  }
  static __device__ float2 widen(std::uint32_t bits) {
    return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(bits));
  }
  static __device__ std::uint32_t relu(std::uint32_t bits) {
    const __nv_bfloat162 y =
        __hmax2_nan(reinterpret_cast<const __nv_bfloat162&>(bits), __nv_bfloat162{});
    return reinterpret_cast<const std::uint32_t&>(y);
  }
  static __device__ std::uint32_t passes(std::uint32_t bits) {
    return __hgtu2_mask(reinterpret_cast<const __nv_bfloat162&>(bits), __nv_bfloat162{});
  }
};

/// The four 8 x 8 parts of a block in shared memory, in the order of Fragment::part. `down`: the
/// second part lies below the first, else beside it.
template <bool kDown, bool kTransposed, class T>
__device__ Fragment load_block(const T* block, int stride) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int part = lane / 8, down = kDown ? part % 2 : part / 2,
            beside = kDown ? part / 2 : part % 2;
  const T* const row = block + (down * 8 + lane % 8) * stride + beside * 8;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  Fragment f;
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.part[0]), "=r"(f.part[1]), "=r"(f.part[2]), "=r"(f.part[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.part[0]), "=r"(f.part[1]), "=r"(f.part[2]), "=r"(f.part[3])
                 : "r"(address)
                 : "memory");
  }
  return f;
}

/// A = the block, or its transpose.
template <class T>
__device__ Fragment load_a(const T* block, int stride) {
  return load_block<true, false>(block, stride);
}
template <class T>
__device__ Fragment load_a_transposed(const T* block, int stride) {
  return load_block<false, true>(block, stride);
}
/// B = the block, or its transpose. part[0] and part[1] are its columns 0 to 7, the others 8 to 15.
template <class T>
__device__ Fragment load_b(const T* block, int stride) {
  return load_block<true, true>(block, stride);
}
template <class T>
__device__ Fragment load_b_transposed(const T* block, int stride) {
  return load_block<false, false>(block, stride);
}

/// A = a block of floats, each of which is rounded to T.
template <class T>
__device__ Fragment load_wide_a(const float* block, int stride) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float* const row = block + lane / 4 * stride + lane % 4 * 2;
  const auto pair = [&](int down, int beside) {
    const float2 x = *reinterpret_cast<const float2*>(row + down * stride + beside);
    return PairOf<T>::narrow(x.x, x.y);
  };
  return {{pair(0, 0), pair(8, 0), pair(0, 8), pair(8, 8)}};
}
/// B = a block of floats, each of which is rounded to T.
template <class T>
__device__ Fragment load_wide_b(const float* block, int stride) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float* const column = block + lane % 4 * 2 * stride + lane / 4;
  const auto pair = [&](int down, int beside) {
    const float* const x = column + down * stride + beside;
    return PairOf<T>::narrow(x[0], x[stride]);
  };
  return {{pair(0, 0), pair(8, 0), pair(0, 8), pair(8, 8)}};
}

/// sums += A B for the 8 columns of B in b0 and b1.
template <class T>
__device__ void multiply_add(float (&sums)[4], const Fragment& a, std::uint32_t b0,
                             std::uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.part[0]), "r"(a.part[1]), "r"(a.part[2]), "r"(a.part[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a.part[0]), "r"(a.part[1]), "r"(a.part[2]), "r"(a.part[3]), "r"(b0), "r"(b1));
  }
}

}  // namespace halfgrad::detail
