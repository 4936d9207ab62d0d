#pragma once

#include <halfgrad/emulator/runtime/arrays.h>

namespace halfgrad::emulator {

/// Sets shape, sizes and pitches of the image that a CUDA array of this extent and flags has.
/// cudaErrorInvalidValue if there is none, or if it exceeds the device's limits.
cudaError_t shape_image(const char* function, const cudaExtent& extent, unsigned flags,
                        Image& image);

/// The extent of a mipmap level. Layers do not shrink.
cudaExtent level_extent(const cudaExtent& extent, unsigned flags, unsigned level);
/// The most levels that an array of this extent can have.
unsigned most_levels(const cudaExtent& extent, unsigned flags);

}  // namespace halfgrad::emulator
