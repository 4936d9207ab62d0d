// cuTensorMapEncodeTiled by cudaGetDriverEntryPointByVersion and from libcuda. On a GPU older than
// compute capability 9.0 it is refused.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstring>

#include "expect.h"

using Encode = decltype(&cuTensorMapEncodeTiled);
using Replace = decltype(&cuTensorMapReplaceAddress);

template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  EXPECT_SUCCESS(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  EXPECT(found != nullptr && result == cudaDriverEntryPointSuccess);
  return reinterpret_cast<Function>(found);
}

struct Arguments {
  void* address = nullptr;
  cuuint32_t rank = 2;
  cuuint64_t dims[2] = {64, 32}, stride = 256;
  cuuint32_t box[2] = {32, 8}, steps[2] = {1, 1};
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
};

CUresult encode(Encode function, CUtensorMap& map, const Arguments& a) {
  return function(&map, a.type, a.rank, a.address, a.dims, &a.stride, a.box, a.steps, a.interleave,
                  a.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main() {
  const auto encode_tiled = driver_function<Encode>("cuTensorMapEncodeTiled");
  const auto replace = driver_function<Replace>("cuTensorMapReplaceAddress");
  const auto text_of = driver_function<decltype(&cuGetErrorString)>("cuGetErrorString");
  Arguments right;
  EXPECT_SUCCESS(cudaMalloc(&right.address, 64 * 32 * 4));
  CUtensorMap map{}, same{};
  cudaDeviceProp properties{};
  EXPECT_SUCCESS(cudaGetDeviceProperties(&properties, 0));
  if (properties.major < 9) {
    EXPECT(encode(encode_tiled, map, right) == CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(std::memcmp(&map, &same, sizeof map) == 0);
    return 0;
  }
  EXPECT(encode(encode_tiled, map, right) == CUDA_SUCCESS);
  EXPECT(std::memcmp(&map, &same, sizeof map) != 0);

  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  EXPECT(library != nullptr);
  const auto of_library = reinterpret_cast<Encode>(dlsym(library, "cuTensorMapEncodeTiled"));
  EXPECT(of_library != nullptr && encode(of_library, same, right) == CUDA_SUCCESS);
  EXPECT(std::memcmp(&map, &same, sizeof map) == 0);

  Arguments wrong = right;
  wrong.address = static_cast<char*>(right.address) + 8;
  EXPECT(encode(encode_tiled, map, wrong) == CUDA_ERROR_INVALID_VALUE);
  wrong = right;
  wrong.stride = 260;
  EXPECT(encode(of_library, map, wrong) == CUDA_ERROR_INVALID_VALUE);
  wrong = right;
  wrong.box[0] = 64;
  EXPECT(encode(encode_tiled, map, wrong) == CUDA_ERROR_INVALID_VALUE);
  wrong = right;
  wrong.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  EXPECT(encode(encode_tiled, map, wrong) == CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(std::memcmp(&map, &same, sizeof map) == 0);
  auto* const shifted = reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(&map) + 8);
  EXPECT(encode_tiled(shifted, right.type, 2, right.address, right.dims, &right.stride, right.box,
                      right.steps, right.interleave, right.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE);

  EXPECT(replace(&map, static_cast<char*>(right.address) + 1024) == CUDA_SUCCESS);
  EXPECT(std::memcmp(&map, &same, sizeof map) != 0);
  EXPECT(replace(&map, right.address) == CUDA_SUCCESS);
  EXPECT(std::memcmp(&map, &same, sizeof map) == 0);
  EXPECT(replace(&map, static_cast<char*>(right.address) + 4) == CUDA_ERROR_INVALID_VALUE);
  CUtensorMap empty{};
  EXPECT(replace(&empty, right.address) == CUDA_ERROR_INVALID_VALUE);

  const char* text = nullptr;
  EXPECT(text_of(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS);
  EXPECT(std::strcmp(text, "invalid argument") == 0);
  void* missing = &map;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
  EXPECT_SUCCESS(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &missing, 12000,
                                                  cudaEnableDefault, &result));
  EXPECT(missing == nullptr && result == cudaDriverEntryPointSymbolNotFound);
  EXPECT_SUCCESS(cudaFree(right.address));
}
