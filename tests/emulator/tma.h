// Tensor maps and waits for the programs that copy tensors in bulk.
#pragma once

#include <cuda.h>
#include <cuda/ptx>

#include "planted.h"

namespace ptx = cuda::ptx;

// A map of rows of floats, each `columns` long, and of boxes of it.
inline CUtensorMap map_of(float* data, unsigned columns, unsigned rows, unsigned box_columns,
                          unsigned box_rows,
                          CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * sizeof(float)};
  const cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  CUtensorMap map{};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, dims, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::printf("cuTensorMapEncodeTiled: error %d\n", result);
    std::exit(1);
  }
  return map;
}

__device__ inline void load(void* tile, const CUtensorMap& map, int x, int y,
                            std::uint64_t* barrier) {
  const int coordinates[] = {x, y};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, coordinates,
                            barrier);
}

// Loads a tile into the same place of each block in the mask. (libcu++ has this for sm_90a only.)
__device__ inline void load(void* tile, const CUtensorMap& map, int x, int y,
                            std::uint64_t* barrier, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
          unsigned(__cvta_generic_to_shared(tile))),
      "l"(&map), "r"(x), "r"(y), "r"(unsigned(__cvta_generic_to_shared(barrier))), "h"(blocks)
      : "memory");
}

__device__ inline void store(const void* tile, const CUtensorMap& map, int x, int y) {
  const int coordinates[] = {x, y};
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, coordinates, tile);
}

// Makes a barrier for `count` arrivals, which asynchronous copies may complete.
__device__ inline void make(std::uint64_t* barrier, unsigned count) {
  ptx::mbarrier_init(barrier, count);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}

__device__ inline void expect_bytes(std::uint64_t* barrier, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 bytes);
}

__device__ inline void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}
