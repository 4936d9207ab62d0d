#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

/// One side of a copy: an array with an offset of bytes and rows, or pitched memory.
struct CopySide {
  cudaArray_t array = nullptr;
  std::size_t x = 0, y = 0;
  void* pointer = nullptr;
  std::size_t pitch = 0;
};

inline CopySide side_of(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return {const_cast<cudaArray_t>(array), x, y, nullptr, 0};
}
inline CopySide side_of(const void* pointer, std::size_t pitch) {
  return {nullptr, 0, 0, const_cast<void*>(pointer), pitch};
}

/// When and where a copy runs, and how long the host waits for it.
struct CopyOrder {
  cudaStream_t stream = nullptr;
  bool synchronous = true;
};

/// Copies `height` rows of `width` bytes.
cudaError_t copy_rows_of_array(const char* function, const CopySide& to, const CopySide& from,
                               std::size_t width, std::size_t height, cudaMemcpyKind kind,
                               CopyOrder order);
/// Copies `count` bytes; a row of an array is followed by its next row.
cudaError_t copy_bytes_of_array(const char* function, CopySide to, CopySide from, std::size_t count,
                                cudaMemcpyKind kind, CopyOrder order);
cudaError_t copy_between_devices(const char* function, const cudaMemcpy3DPeerParms* parameters,
                                 CopyOrder order);

}  // namespace halfgrad::emulator
