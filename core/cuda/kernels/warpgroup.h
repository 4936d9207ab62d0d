#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

/// Products of a warpgroup, four warps, on the tensor cores of compute capability 9.0: PTX's
/// wgmma.mma_async.m64nNk16, 64 x 16 times 16 x N, with 16-bit operands in shared memory and float
/// sums in registers. Warp w of the four has rows 16 w to 16 w + 15 of the sums. In each 8 columns
/// its lane 4 g + t has rows g and g + 8 at columns 2t and 2t + 1 (PTX ISA, "Register Fragments for
/// wgmma.mma_async.m64nNk16"), as in mlp_fragments.h.
namespace halfgrad::detail {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupRows = 64;
inline constexpr int kSwizzledColumns = 64;  ///< 128 bytes, as wide as a swizzle gets

/// A matrix [kRows, kWidth] of 16-bit elements in shared memory, of 16 columns or a multiple of 64.
/// Blocks of up to 64 columns lie one after the other. A block's row has S = 32 or 128 bytes, which
/// are S / 16 chunks. Chunk c of row r stands at place c ^ swizzle(r), so that one chunk of 8 rows
/// lies in different banks: PTX's "swizzle" of S bytes. `first` is aligned to 1024 bytes.
template <class T, int kRows, int kWidth>
struct SwizzledTile {
  static constexpr int kColumns = kWidth;
  static constexpr int kElements = kRows * kWidth;
  static constexpr int kBlockColumns = kWidth < kSwizzledColumns ? kWidth : kSwizzledColumns;
  static constexpr int kBlockElements = kRows * kBlockColumns;
  static constexpr int kChunks = kBlockColumns / 8;  ///< S / 16

  T* first;
  std::uint32_t start;  ///< address in shared memory / 16: `first` as descriptors have it

  /// The 128-byte line in which a row begins, modulo the chunks of a row.
  static __device__ int swizzle(int row) { return row * kChunks / 8 % kChunks; }
  __device__ T* at(int row, int column) const {
    const int place = column / 8 % kChunks ^ swizzle(row);
    return first + column / kBlockColumns * kBlockElements + row * kBlockColumns + place * 8 +
           column % 8;
  }
  /// The rows from `row` on, a multiple of 8.
  __device__ SwizzledTile from_row(int row) const {
    return {first + row * kBlockColumns, start + offset(row * kBlockColumns)};
  }

  /// Describes the rows for a product that adds over columns, from column 16 `step` on. The
  /// instruction says how many rows it takes.
  __device__ std::uint64_t along_columns(int step) const {
    constexpr int kSteps = kBlockColumns / 16;
    return descriptor(step / kSteps * kBlockElements + step % kSteps * 16, 0);
  }
  /// Describes the columns, from 64 `block` on, for a product that adds over rows, from row 16
  /// `step` on: the transpose of the matrix.
  __device__ std::uint64_t along_rows(int block, int step) const {
    return descriptor(block * kBlockElements + step * 16 * kBlockColumns, kBlockElements);
  }

 private:
  static_assert(sizeof(T) == 2 && (kWidth == 16 || kWidth % kSwizzledColumns == 0));

  /// Elements in units of 16 bytes.
  static constexpr __device__ std::uint32_t offset(int elements) {
    return static_cast<std::uint32_t>(elements / 8);
  }
  /// PTX ISA, "Matrix Descriptor Format". `leading`: elements from 64 columns to the next 64.
  __device__ std::uint64_t descriptor(int from, int leading) const {
    constexpr std::uint64_t kSwizzle = kChunks == 8 ? 1 : 3, kEightRows = kBlockColumns;
    return kSwizzle << 62 | kEightRows << 32 | (start + offset(from) + (offset(leading) << 16));
  }
};

/// The float sums of 64 rows and N columns: N / 2 registers of each thread.
template <int N>
using WarpgroupSums = float[N / 8][4];

/// Orders earlier accesses to registers before the next products.
inline __device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Makes a group of the products since the last call.
inline __device__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most kPending groups are unfinished.
template <int kPending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// Keeps the compiler from reading sums before the call of wait_for_products() in front of it.
template <int kBlocks>
__device__ void pin(float (&sums)[kBlocks][4]) {
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
    asm volatile("" : "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3]));
  }
}
/// Lets later products see what this thread has stored in shared memory. A barrier must follow.
inline __device__ void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Waits for the other threads of this warpgroup.
inline __device__ void sync_warpgroup(int warpgroup) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + warpgroup), "n"(kWarpgroupThreads) : "memory");
}

#define HALFGRAD_SUMS(s, i) "+f"(s[i][0]), "+f"(s[i][1]), "+f"(s[i][2]), "+f"(s[i][3])
#define HALFGRAD_SUMS_4(s, i) \
  HALFGRAD_SUMS(s, i), HALFGRAD_SUMS(s, i + 1), HALFGRAD_SUMS(s, i + 2), HALFGRAD_SUMS(s, i + 3)
#define HALFGRAD_REGISTERS_32                                                             \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HALFGRAD_REGISTERS_64                                                          \
  HALFGRAD_REGISTERS_32                                                                \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
// Operands a to a + 4 follow the registers: both descriptors, whether to add to the sums, and which
// operands are transposed.
#define HALFGRAD_WGMMA(N, TYPES, REGISTERS, a, b, add, a_transposed, b_transposed, ...)      \
  asm volatile("{.reg .pred p; setp.ne.b32 p, " add                                          \
               ", 0; "                                                                       \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPES " {" REGISTERS "}, " a \
               ", " b ", p, 1, 1, " a_transposed ", " b_transposed ";}"                      \
               : __VA_ARGS__                                                                 \
               : "l"(of_a), "l"(of_b), "r"(static_cast<int>(adds)), "n"(int{kATransposed}),  \
                 "n"(int{kBTransposed}))

/// sums = A B, or sums += A B if `adds`, for A 64 x 16 and B 16 x N. A operand that lies along the
/// rows of its tile is transposed.
template <class T, int N, bool kATransposed, bool kBTransposed>
__device__ void multiply_16(WarpgroupSums<N>& sums, std::uint64_t of_a, std::uint64_t of_b,
                            bool adds) {
#define HALFGRAD_WGMMA_OF(TYPES)                                                                   \
  if constexpr (N == 128) {                                                                        \
    HALFGRAD_WGMMA("128", TYPES, HALFGRAD_REGISTERS_64, "%64", "%65", "%66", "%67", "%68",         \
                   HALFGRAD_SUMS_4(sums, 0), HALFGRAD_SUMS_4(sums, 4), HALFGRAD_SUMS_4(sums, 8),   \
                   HALFGRAD_SUMS_4(sums, 12));                                                     \
  } else if constexpr (N == 64) {                                                                  \
    HALFGRAD_WGMMA("64", TYPES, HALFGRAD_REGISTERS_32, "%32", "%33", "%34", "%35", "%36",          \
                   HALFGRAD_SUMS_4(sums, 0), HALFGRAD_SUMS_4(sums, 4));                            \
  } else if constexpr (N == 16) {                                                                  \
    HALFGRAD_WGMMA("16", TYPES, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", "%10", "%11", "%12", \
                   HALFGRAD_SUMS(sums, 0), HALFGRAD_SUMS(sums, 1));                                \
  } else {                                                                                         \
    static_assert(N == 8);                                                                         \
    HALFGRAD_WGMMA("8", TYPES, "%0, %1, %2, %3", "%4", "%5", "%6", "%7", "%8",                     \
                   HALFGRAD_SUMS(sums, 0));                                                        \
  }
  if constexpr (std::is_same_v<T, __half>) {
    HALFGRAD_WGMMA_OF("f16.f16")
  } else {
    HALFGRAD_WGMMA_OF("bf16.bf16")
  }
#undef HALFGRAD_WGMMA_OF
}

#undef HALFGRAD_WGMMA
#undef HALFGRAD_REGISTERS_64
#undef HALFGRAD_REGISTERS_32
#undef HALFGRAD_SUMS_4
#undef HALFGRAD_SUMS

}  // namespace halfgrad::detail
