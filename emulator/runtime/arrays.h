#pragma once

#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/memory/image.h>

namespace halfgrad::emulator {

/// A CUDA array, or one level of a mipmapped one.
struct CudaArray {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< as the program gave it: 0 for the dimensions that it lacks
  unsigned flags = 0;
  Image image;
  bool is_level = false;
};

struct MipmappedArray {
  std::vector<cudaArray_t> levels;
};

/// The live object of a handle. Returns nullptr after a finding that names the function.
const CudaArray* find_array(const char* function, cudaArray_const_t handle);
const MipmappedArray* find_mipmapped(const char* function, cudaMipmappedArray_const_t handle);

/// The format that a channel descriptor names: 1, 2 or 4 channels of 8, 16 or 32 bits.
/// cudaErrorInvalidChannelDescriptor otherwise.
cudaError_t texel_format(const char* function, const cudaChannelFormatDesc& descriptor,
                         TexelFormat& format);

/// Parameters of the same copy with pitched pointers in the place of CUDA arrays, and an extent in
/// bytes.
cudaError_t without_arrays(const char* function, const cudaMemcpy3DParms& given,
                           cudaMemcpy3DParms& plain);

}  // namespace halfgrad::emulator
