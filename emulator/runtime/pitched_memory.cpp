// Pitched memory, and copies and memsets of two and three dimensions.
#include <string_view>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/memory.h>
#include <halfgrad/emulator/runtime/per_thread_stream.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kPitch = 512;  ///< rows of pitched memory begin at its multiples

cudaError_t copy_2d(const char* function, void* to, std::size_t to_pitch, const void* from,
                    std::size_t from_pitch, std::size_t width, std::size_t height,
                    cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  return api_call(function, [&] {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    cudaMemcpy3DParms parameters{};
    parameters.srcPtr = {const_cast<void*>(from), from_pitch, width, height};
    parameters.dstPtr = {to, to_pitch, width, height};
    parameters.extent = {width, height, 1};
    parameters.kind = kind;
    return copy_on_stream(function, parameters, stream, synchronous);
  });
}

cudaError_t copy_3d(const char* function, const cudaMemcpy3DParms* parameters, cudaStream_t stream,
                    bool synchronous) {
  return api_call(function, [&] {
    return parameters == nullptr ? cudaErrorInvalidValue
                                 : copy_on_stream(function, *parameters, stream, synchronous);
  });
}

/// cudaMemset and its like wait for their work if they write pinned or managed memory (CUDA runtime
/// API, "API synchronization behavior: Memset").
bool waits_for_fill(std::string_view function, const void* to) {
  if (function.find("Async") != std::string_view::npos) return false;
  const MemoryPlace place = place_of(to);
  return place == MemoryPlace::pinned || place == MemoryPlace::managed;
}

cudaError_t fill(const char* function, void* to, std::size_t pitch, int value, std::size_t width,
                 std::size_t height, cudaStream_t stream) {
  return api_call(function, [&] {
    cudaMemsetParams parameters{};
    parameters.dst = to;
    parameters.pitch = pitch;
    parameters.value = static_cast<unsigned char>(value);
    parameters.elementSize = 1;
    parameters.width = width;
    parameters.height = height;
    const bool waits = waits_for_fill(function, to) && !is_capturing(stream);
    const cudaError_t error = fill_on_stream(function, parameters, stream);
    return waits && error == cudaSuccess ? wait_for_stream(stream) : error;
  });
}

cudaError_t fill_3d(const char* function, cudaPitchedPtr to, int value, cudaExtent extent,
                    cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    auto* slice = static_cast<std::byte*>(to.ptr) + z * to.ysize * to.pitch;
    if (const cudaError_t error =
            fill(function, slice, to.pitch, value, extent.width, extent.height, stream))
      return error;
  }
  return cudaSuccess;
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch,
                                                  std::size_t width, std::size_t height) {
  const void* caller = HALFGRAD_EMULATOR_CALLER;
  return api_call("cudaMallocPitch", [&] {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    return allocate_memory(MemoryKind::device, pointer, *pitch * height,
                           "cudaMallocPitch at " + call_site(caller));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  const void* caller = HALFGRAD_EMULATOR_CALLER;
  return api_call("cudaMalloc3D", [&] {
    if (memory == nullptr) return cudaErrorInvalidValue;
    *memory = {nullptr, (extent.width + kPitch - 1) / kPitch * kPitch, extent.width, extent.height};
    return allocate_memory(MemoryKind::device, &memory->ptr,
                           memory->pitch * extent.height * extent.depth,
                           "cudaMalloc3D at " + call_site(caller));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                               std::size_t from_pitch, std::size_t width,
                                               std::size_t height, cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr,
                 true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2D_ptds(void* to, std::size_t to_pitch,
                                                    const void* from, std::size_t from_pitch,
                                                    std::size_t width, std::size_t height,
                                                    cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind,
                 cudaStreamPerThread, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch,
                                                    const void* from, std::size_t from_pitch,
                                                    std::size_t width, std::size_t height,
                                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream,
                 false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DAsync_ptsz(void* to, std::size_t to_pitch,
                                                         const void* from, std::size_t from_pitch,
                                                         std::size_t width, std::size_t height,
                                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind,
                 or_per_thread(stream), false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_3d("cudaMemcpy3D", parameters, nullptr, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* parameters) {
  return copy_3d("cudaMemcpy3D", parameters, cudaStreamPerThread, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters,
                                                    cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", parameters, stream, false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* parameters,
                                                         cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", parameters, or_per_thread(stream), false);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return fill("cudaMemset", to, bytes, value, bytes, 1, nullptr);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset_ptds(void* to, int value, std::size_t bytes) {
  return fill("cudaMemset", to, bytes, value, bytes, 1, cudaStreamPerThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                                  cudaStream_t stream) {
  return fill("cudaMemsetAsync", to, bytes, value, bytes, 1, stream);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemsetAsync_ptsz(void* to, int value, std::size_t bytes,
                                                       cudaStream_t stream) {
  return fill("cudaMemsetAsync", to, bytes, value, bytes, 1, or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value,
                                               std::size_t width, std::size_t height) {
  return fill("cudaMemset2D", to, pitch, value, width, height, nullptr);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset2D_ptds(void* to, std::size_t pitch, int value,
                                                    std::size_t width, std::size_t height) {
  return fill("cudaMemset2D", to, pitch, value, width, height, cudaStreamPerThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value,
                                                    std::size_t width, std::size_t height,
                                                    cudaStream_t stream) {
  return fill("cudaMemset2DAsync", to, pitch, value, width, height, stream);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset2DAsync_ptsz(void* to, std::size_t pitch, int value,
                                                         std::size_t width, std::size_t height,
                                                         cudaStream_t stream) {
  return fill("cudaMemset2DAsync", to, pitch, value, width, height, or_per_thread(stream));
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_3d("cudaMemset3D", to, value, extent, nullptr);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset3D_ptds(cudaPitchedPtr to, int value,
                                                    cudaExtent extent) {
  return fill_3d("cudaMemset3D", to, value, extent, cudaStreamPerThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                                    cudaStream_t stream) {
  return fill_3d("cudaMemset3DAsync", to, value, extent, stream);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr to, int value,
                                                         cudaExtent extent, cudaStream_t stream) {
  return fill_3d("cudaMemset3DAsync", to, value, extent, or_per_thread(stream));
}

}  // namespace halfgrad::emulator
