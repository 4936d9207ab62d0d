#pragma once

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/memory/texture.h>

namespace halfgrad::emulator {

/// The images of a texture's resource. Reports why a resource is not valid.
cudaError_t levels_of_resource(const char* function, const cudaResourceDesc& resource,
                               std::vector<Image>& levels, unsigned& array_flags);

/// Sampling of a texture whose levels are known, from its descriptor.
cudaError_t describe_sampling(const char* function, const cudaTextureDesc& description,
                              Texture& texture);

}  // namespace halfgrad::emulator
