// CUDA arrays and mipmapped arrays.
#include <halfgrad/emulator/runtime/arrays.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include <halfgrad/emulator/runtime/array_shapes.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/streams/handle_table.h>
#include <halfgrad/emulator/runtime/texture_limits.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

std::mutex arrays_mutex;

HandleTable<cudaArray_t, CudaArray>& arrays() {
  static auto& table = *new HandleTable<cudaArray_t, CudaArray>(0x5e5000000000);
  return table;
}

HandleTable<cudaMipmappedArray_t, MipmappedArray>& mipmapped_arrays() {
  static auto& table = *new HandleTable<cudaMipmappedArray_t, MipmappedArray>(0x5e6000000000);
  return table;
}

/// Returns the object, or reports why the handle has none.
template <class Table, class Handle>
auto find(const char* function, const Table& table, Handle handle, const char* kind) {
  const std::lock_guard lock(arrays_mutex);
  auto* found = table.find(handle);
  if (found == nullptr) {
    report_call(FindingKind::invalid_call, function,
                std::string("the handle is that of no ") + kind +
                    (table.was_destroyed(handle) ? ": it was freed before" : ""));
  }
  return found;
}

cudaError_t make_array(const char* function, const std::string& made_by,
                       const cudaChannelFormatDesc& format, const cudaExtent& extent,
                       unsigned flags, bool is_level, cudaArray_t* result) {
  auto array = std::make_unique<CudaArray>();
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  array->is_level = is_level;
  Image& image = array->image;
  if (const cudaError_t error = texel_format(function, format, image.format)) return error;
  if (const cudaError_t error = shape_image(function, extent, flags, image)) return error;
  const Allocation* made = process().memory.allocate(MemoryKind::device, current_device(),
                                                     image.slice_pitch * image.slices,
                                                     TextureLimits::alignment, made_by);
  if (made == nullptr) return cudaErrorMemoryAllocation;
  image.address = made->begin;
  const std::lock_guard lock(arrays_mutex);
  *result = arrays().add(std::move(array));
  return cudaSuccess;
}

cudaError_t make(const char* function, const void* caller, cudaArray_t* result,
                 const cudaChannelFormatDesc* format, const cudaExtent& extent, unsigned flags) {
  return api_call(function, [&] {
    if (result == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_in_capture(function)) return error;
    return make_array(function, std::string(function) + " at " + call_site(caller), *format, extent,
                      flags, false, result);
  });
}

void free_array(cudaArray_t handle) {
  std::unique_ptr<CudaArray> array;
  {
    const std::lock_guard lock(arrays_mutex);
    array = arrays().take(handle);
  }
  process().memory.free(array->image.address);
}

/// Work that was issued before may use the array, so freeing it waits, as cudaFree does.
cudaError_t before_free(const char* function) {
  if (const cudaError_t error = refuse_in_capture(function)) return error;
  return wait_for_device(current_device());
}

}  // namespace

const CudaArray* find_array(const char* function, cudaArray_const_t handle) {
  return find(function, arrays(), const_cast<cudaArray_t>(handle), "CUDA array");
}

const MipmappedArray* find_mipmapped(const char* function, cudaMipmappedArray_const_t handle) {
  return find(function, mipmapped_arrays(), const_cast<cudaMipmappedArray_t>(handle),
              "mipmapped array");
}

HALFGRAD_EMULATOR_API cudaError_t cudaMallocArray(cudaArray_t* array,
                                                  const cudaChannelFormatDesc* format,
                                                  std::size_t width, std::size_t height,
                                                  unsigned flags) {
  return make("cudaMallocArray", HALFGRAD_EMULATOR_CALLER, array, format, {width, height, 0},
              flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                                                    const cudaChannelFormatDesc* format,
                                                    cudaExtent extent, unsigned flags) {
  return make("cudaMalloc3DArray", HALFGRAD_EMULATOR_CALLER, array, format, extent, flags);
}

HALFGRAD_EMULATOR_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return api_call("cudaFreeArray", [&] {
    if (array == nullptr) return cudaSuccess;
    if (const cudaError_t error = before_free("cudaFreeArray")) return error;
    const CudaArray* found = find_array("cudaFreeArray", array);
    if (found == nullptr || found->is_level) return cudaErrorInvalidValue;
    free_array(array);
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format,
                                                   cudaExtent* extent, unsigned* flags,
                                                   cudaArray_t array) {
  return api_call("cudaArrayGetInfo", [&] {
    const CudaArray* found = find_array("cudaArrayGetInfo", array);
    if (found == nullptr) return cudaErrorInvalidValue;
    if (format != nullptr) *format = found->format;
    if (extent != nullptr) *extent = found->extent;
    if (flags != nullptr) *flags = found->flags;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format,
                                                     cudaArray_const_t array) {
  return api_call("cudaGetChannelDesc", [&] {
    const CudaArray* found = find_array("cudaGetChannelDesc", array);
    if (found == nullptr || format == nullptr) return cudaErrorInvalidValue;
    *format = found->format;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* result,
                                                           const cudaChannelFormatDesc* format,
                                                           cudaExtent extent, unsigned levels,
                                                           unsigned flags) {
  const char* const function = "cudaMallocMipmappedArray";
  const void* caller = HALFGRAD_EMULATOR_CALLER;
  return api_call(function, [&] {
    if (result == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_in_capture(function)) return error;
    const std::string made_by = std::string(function) + " at " + call_site(caller);
    auto made = std::make_unique<MipmappedArray>();
    const unsigned count = std::clamp(levels, 1u, std::max(most_levels(extent, flags), 1u));
    for (unsigned level = 0; level < count; ++level) {
      cudaArray_t array = nullptr;
      const cudaError_t error = make_array(function, made_by, *format,
                                           level_extent(extent, flags, level), flags, true, &array);
      if (error != cudaSuccess) {
        for (cudaArray_t earlier : made->levels) free_array(earlier);
        return error;
      }
      made->levels.push_back(array);
    }
    const std::lock_guard lock(arrays_mutex);
    *result = mipmapped_arrays().add(std::move(made));
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* result,
                                                             cudaMipmappedArray_const_t array,
                                                             unsigned level) {
  return api_call("cudaGetMipmappedArrayLevel", [&] {
    const MipmappedArray* found = find_mipmapped("cudaGetMipmappedArrayLevel", array);
    if (found == nullptr || result == nullptr || level >= found->levels.size()) {
      return cudaErrorInvalidValue;
    }
    *result = found->levels[level];
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return api_call("cudaFreeMipmappedArray", [&] {
    if (array == nullptr) return cudaSuccess;
    if (const cudaError_t error = before_free("cudaFreeMipmappedArray")) return error;
    if (find_mipmapped("cudaFreeMipmappedArray", array) == nullptr) return cudaErrorInvalidValue;
    std::unique_ptr<MipmappedArray> taken;
    {
      const std::lock_guard lock(arrays_mutex);
      taken = mipmapped_arrays().take(array);
    }
    for (cudaArray_t level : taken->levels) free_array(level);
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
