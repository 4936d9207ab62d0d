#pragma once

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// Reports a copy whose source and destination share bytes: its result is undefined. The manual
/// says so of all copies but cudaMemcpy. A copy of memory to itself changes nothing, so it is
/// silent. `parameters` name no arrays.
void check_overlap(const char* function, const cudaMemcpy3DParms& parameters);

}  // namespace halfgrad::emulator
