// Surfaces and textures of the small programs in planted/ and right/.
#pragma once

#include <vector>

#include "planted.h"

inline cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

// A 2-D array of zeros with a surface object.
struct Surface {
  Surface(int width, int height) {
    const auto format = cudaCreateChannelDesc<float>();
    const std::vector<float> zeros(width * height);
    CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, zeros.data(), width * 4, width * 4, height,
                              cudaMemcpyHostToDevice));
    const cudaResourceDesc resource = resource_of(array);
    CHECK(cudaCreateSurfaceObject(&object, &resource));
  }
  ~Surface() {
    cudaDestroySurfaceObject(object);
    cudaFreeArray(array);
  }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t object = 0;
};

// A texture object without a filter, of an array or of `count` floats in linear memory.
inline cudaTextureObject_t texture_of(cudaArray_t array) {
  const cudaResourceDesc resource = resource_of(array);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

inline cudaTextureObject_t texture_of(float* values, int count) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {values, cudaCreateChannelDesc<float>(), count * sizeof(float)};
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}
