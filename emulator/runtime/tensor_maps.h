#pragma once

#include <cuda.h>

#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {

// Functions of the driver that the emulator has. libcuda's stand-in exports them under the driver's
// names; cudaGetDriverEntryPoint finds them without it.

HALFGRAD_EMULATOR_SHARED CUresult CUDAAPI
encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
             const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
             const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
             CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
HALFGRAD_EMULATOR_SHARED CUresult CUDAAPI replace_tensor_address(CUtensorMap* map, void* address);
HALFGRAD_EMULATOR_SHARED CUresult CUDAAPI name_of_result(CUresult result, const char** name);
HALFGRAD_EMULATOR_SHARED CUresult CUDAAPI text_of_result(CUresult result, const char** text);

/// The function of the driver with this name, or nullptr if the emulator lacks it.
void* driver_function(const char* name);

}  // namespace halfgrad::emulator
