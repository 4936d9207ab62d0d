// Products of 64 x 64 by wgmma, for programs in planted/ and right/. Operands are f16, 64 rows of
// 64 elements along k, in the swizzle of 128 bytes.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

constexpr int kTile = 64, kBytesOfRow = kTile * 2;

// Element (row, k) of a tile in shared memory: chunk c of 8 elements stands at place c ^ (row mod
// 8).
__device__ inline __half& element(__half* tile, int row, int k) {
  return tile[row * kTile + ((k / 8) ^ (row % 8)) * 8 + k % 8];
}

// Descriptor of a tile from element k on: 8 rows are 1024 bytes apart from the next 8.
__device__ inline std::uint64_t descriptor(const __half* tile, int k) {
  const std::uint64_t address = __cvta_generic_to_shared(tile) + k * 2;
  return (address & 0x3ffff) >> 4 | std::uint64_t(8 * kBytesOfRow / 16) << 32 | 1ull << 62;
}

__device__ inline void fence_registers() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ inline void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
__device__ inline void fence_proxy() { asm volatile("fence.proxy.async;" ::: "memory"); }

// d += A B^T of 16 elements along k.
__device__ inline void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

// d += A B^T of two tiles.
__device__ inline void multiply_tiles(float (&d)[32], const __half* a, const __half* b) {
  for (int k = 0; k < kTile; k += 16) multiply(d, descriptor(a, k), descriptor(b, k));
}

// Copies columns k to k + 63 of a row-major matrix into a tile, with plain stores.
__device__ inline void load_tile(__half* tile, const __half* matrix, int columns, int k) {
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
    element(tile, i / kTile, i % kTile) = matrix[i / kTile * columns + k + i % kTile];
  }
}

// Stores the product: warp w has rows 16 w to 16 w + 15.
__device__ inline void store_product(float* c, const float (&d)[32]) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int i = 0; i < 32; ++i) {
    c[(row + i / 2 % 2 * 8) * kTile + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
  }
}
