// Functions of the driver that the emulator has, under the driver's names.
#include <halfgrad/emulator/runtime/tensor_maps.h>

using namespace halfgrad::emulator;

HALFGRAD_EMULATOR_API CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
    const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return encode_tiled(map, type, rank, address, dims, strides, box, steps, interleave, swizzle,
                      promotion, fill);
}

HALFGRAD_EMULATOR_API CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return replace_tensor_address(map, address);
}

HALFGRAD_EMULATOR_API CUresult CUDAAPI cuGetErrorName(CUresult result, const char** name) {
  return name_of_result(result, name);
}

HALFGRAD_EMULATOR_API CUresult CUDAAPI cuGetErrorString(CUresult result, const char** text) {
  return text_of_result(result, text);
}
