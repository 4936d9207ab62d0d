#pragma once

#include <map>

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// Sets the limits of textures and surfaces, as properties and as attributes of a device.
void add_texture_properties(cudaDeviceProp& properties);
void add_texture_attributes(std::map<int, int>& attributes);

}  // namespace halfgrad::emulator
