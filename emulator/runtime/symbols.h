#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// The device address of bytes [offset, offset + bytes) of a variable, on the current device.
cudaError_t symbol_range(const void* symbol, std::size_t bytes, std::size_t offset, void** address);

}  // namespace halfgrad::emulator
