// Texture and surface objects.
#include <halfgrad/emulator/runtime/texture_objects.h>

#include <map>
#include <mutex>
#include <utility>

#include <halfgrad/emulator/runtime/arrays.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/device.h>
#include <halfgrad/emulator/runtime/texture_limits.h>
#include <halfgrad/emulator/runtime/texture_resources.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {
namespace {

/// Descriptors that the program gave, for its queries.
struct Descriptors {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};

std::mutex objects_mutex;

std::map<std::uint64_t, Descriptors>& descriptors() {
  static auto& table = *new std::map<std::uint64_t, Descriptors>;
  return table;
}

void keep(std::uint64_t handle, const Descriptors& given) {
  const std::lock_guard lock(objects_mutex);
  descriptors()[handle] = given;
}

/// Calls copy(descriptors of the object).
template <class Copy>
cudaError_t query(const char* function, std::uint64_t handle, const void* result, Copy copy) {
  return api_call(function, [&] {
    const std::lock_guard lock(objects_mutex);
    const auto found = descriptors().find(handle);
    if (found == descriptors().end() || result == nullptr) return cudaErrorInvalidValue;
    copy(found->second);
    return cudaSuccess;
  });
}

/// Ends an object. Kernels that were launched before may still use it.
cudaError_t destroy(const char* function, std::uint64_t handle, bool is_surface) {
  return api_call(function, [&] {
    if (handle == 0) return cudaSuccess;
    if (!texture_table().end(handle, is_surface, host_operation())) {
      report_call(FindingKind::invalid_call, function,
                  "the handle is that of no such object, or the object was destroyed before");
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(objects_mutex);
    descriptors().erase(handle);
    return cudaSuccess;
  });
}

}  // namespace

TextureTable& texture_table() {
  static auto& table = *new TextureTable;  // never destroyed, as the process
  return table;
}

HALFGRAD_EMULATOR_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* result,
                                                          const cudaResourceDesc* resource,
                                                          const cudaTextureDesc* description,
                                                          const cudaResourceViewDesc* view) {
  const char* const function = "cudaCreateTextureObject";
  return api_call(function, [&] {
    if (result == nullptr || resource == nullptr || description == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (view != nullptr) {
      report_call(FindingKind::invalid_call, function,
                  "resource views are not implemented by the emulator", Severity::note);
      return cudaErrorNotSupported;
    }
    Texture texture;
    unsigned flags = 0;
    if (const cudaError_t error = levels_of_resource(function, *resource, texture.levels, flags)) {
      return error;
    }
    if (const cudaError_t error = describe_sampling(function, *description, texture)) return error;
    texture.allows_gather = (flags & cudaArrayTextureGather) != 0;
    *result = texture_table().add(std::move(texture));
    keep(*result, {*resource, *description});
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return destroy("cudaDestroyTextureObject", texture, false);
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* result,
                                                                   cudaTextureObject_t texture) {
  return query("cudaGetTextureObjectResourceDesc", texture, result,
               [&](const Descriptors& given) { *result = given.resource; });
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* result,
                                                                  cudaTextureObject_t texture) {
  return query("cudaGetTextureObjectTextureDesc", texture, result,
               [&](const Descriptors& given) { *result = given.texture; });
}

/// No texture object has a view.
HALFGRAD_EMULATOR_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*,
                                                                       cudaTextureObject_t) {
  return set_error(cudaErrorInvalidValue);
}

HALFGRAD_EMULATOR_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* result,
                                                          const cudaResourceDesc* resource) {
  const char* const function = "cudaCreateSurfaceObject";
  return api_call(function, [&] {
    if (result == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (resource->resType != cudaResourceTypeArray) {
      report_call(FindingKind::invalid_call, function, "a surface needs a CUDA array",
                  Severity::note);
      return cudaErrorInvalidValue;
    }
    const CudaArray* array = find_array(function, resource->res.array.array);
    if (array == nullptr) return cudaErrorInvalidValue;
    if ((array->flags & cudaArraySurfaceLoadStore) == 0) {
      report_call(FindingKind::invalid_call, function,
                  "the CUDA array was made without cudaArraySurfaceLoadStore", Severity::note);
      return cudaErrorInvalidValue;
    }
    *result = texture_table().add_surface(array->image);
    keep(*result, {*resource, {}});
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return destroy("cudaDestroySurfaceObject", surface, true);
}

HALFGRAD_EMULATOR_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* result,
                                                                   cudaSurfaceObject_t surface) {
  return query("cudaGetSurfaceObjectResourceDesc", surface, result,
               [&](const Descriptors& given) { *result = given.resource; });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    std::size_t* width, const cudaChannelFormatDesc* format, int device) {
  return api_call("cudaDeviceGetTexture1DLinearMaxWidth", [&] {
    if (width == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    TexelFormat known;
    const cudaError_t error = texel_format("cudaDeviceGetTexture1DLinearMaxWidth", *format, known);
    if (error == cudaSuccess) *width = TextureLimits::texture_1d_linear;
    return error;
  });
}

}  // namespace halfgrad::emulator
