// CUDA arrays, textures and surfaces: what the functions return for right and for wrong arguments.
#include <cstring>
#include <vector>

#include "expect.h"

cudaChannelFormatDesc floats() { return cudaCreateChannelDesc<float>(); }

void arrays_tell_what_they_are() {
  const auto format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array = nullptr;
  EXPECT_SUCCESS(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 4, 3),
                                   cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaChannelFormatDesc told{};
  cudaExtent extent{};
  unsigned flags = 0;
  EXPECT_SUCCESS(cudaArrayGetInfo(&told, &extent, &flags, array));
  EXPECT(told.x == 8 && told.w == 8 && told.f == cudaChannelFormatKindUnsigned);
  EXPECT(extent.width == 8 && extent.height == 4 && extent.depth == 3);
  EXPECT(flags == (cudaArrayLayered | cudaArraySurfaceLoadStore));
  EXPECT_SUCCESS(cudaGetChannelDesc(&told, array));
  EXPECT(told.y == 8);
  EXPECT_SUCCESS(cudaFreeArray(array));
  EXPECT_SUCCESS(cudaFreeArray(nullptr));
}

void wrong_arrays_are_refused() {
  const auto format = floats();
  cudaArray_t array = nullptr;
  const auto refused = [&](cudaExtent extent, unsigned flags) {
    return cudaMalloc3DArray(&array, &format, extent, flags) == cudaErrorInvalidValue;
  };
  EXPECT(refused(make_cudaExtent(0, 4, 0), 0));
  EXPECT(refused(make_cudaExtent(4, 0, 4), 0));
  EXPECT(refused(make_cudaExtent(4, 4, 0), cudaArrayLayered));
  EXPECT(refused(make_cudaExtent(4, 5, 6), cudaArrayCubemap));
  EXPECT(refused(make_cudaExtent(4, 4, 5), cudaArrayCubemap));
  EXPECT(refused(make_cudaExtent(4, 4, 7), cudaArrayCubemap | cudaArrayLayered));
  EXPECT(refused(make_cudaExtent(131073, 1, 0), 0));
  EXPECT(refused(make_cudaExtent(4, 4, 4), cudaArrayTextureGather));
  const auto bad = [&](cudaChannelFormatDesc other) {
    return cudaMallocArray(&array, &other, 4, 4) == cudaErrorInvalidChannelDescriptor;
  };
  EXPECT(bad(cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat)));
  EXPECT(bad(cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned)));
  EXPECT(bad(cudaCreateChannelDesc(64, 0, 0, 0, cudaChannelFormatKindUnsigned)));
  EXPECT(bad(cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat)));
  EXPECT(bad(cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindSigned)));
}

void copies_stay_in_the_array() {
  const auto format = floats();
  cudaArray_t array = nullptr;
  EXPECT_SUCCESS(cudaMallocArray(&array, &format, 6, 4));
  std::vector<float> values(24, 1.0f), back(24);
  const auto to = cudaMemcpyHostToDevice;
  EXPECT_SUCCESS(cudaMemcpy2DToArray(array, 0, 0, values.data(), 24, 24, 4, to));
  EXPECT(cudaMemcpy2DToArray(array, 4, 0, values.data(), 24, 24, 4, to) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(array, 0, 1, values.data(), 24, 24, 4, to) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(array, 2, 0, values.data(), 24, 8, 1, to) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DToArray(array, 0, 0, values.data(), 12, 24, 4, to) ==
         cudaErrorInvalidPitchValue);
  // A copy of bytes goes on in the next row.
  for (int i = 0; i < 24; ++i) values[i] = float(i);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_SUCCESS(cudaMemcpyToArray(array, 8, 1, values.data(), 14 * 4, to));
  EXPECT_SUCCESS(cudaMemcpyFromArray(back.data(), array, 0, 0, 24 * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 24; ++i) EXPECT(back[i] == (i < 8 || i >= 22 ? 1.0f : float(i - 8)));
  // Arrays of other elements do not mix.
  const auto bytes = cudaCreateChannelDesc<char>();
  cudaArray_t other = nullptr;
  EXPECT_SUCCESS(cudaMallocArray(&other, &bytes, 6, 4));
  cudaMemcpy3DParms copy{};
  copy.srcArray = array;
  copy.dstArray = other;
  copy.extent = make_cudaExtent(6, 4, 1);
  copy.kind = cudaMemcpyDeviceToDevice;
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
  copy.srcPtr = make_cudaPitchedPtr(values.data(), 24, 24, 4);
  EXPECT(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
  EXPECT_SUCCESS(cudaFreeArray(array));
  EXPECT_SUCCESS(cudaFreeArray(other));
}

void arrays_are_copied_by_peers_and_nodes() {
  const auto format = floats();
  cudaArray_t one = nullptr, other = nullptr, last = nullptr;
  for (cudaArray_t* array : {&one, &other, &last})
    EXPECT_SUCCESS(cudaMalloc3DArray(array, &format, make_cudaExtent(5, 3, 2), 0));
  std::vector<float> values(30), back(30);
  for (int i = 0; i < 30; ++i) values[i] = float(i);
  cudaMemcpy3DPeerParms peer{};
  peer.srcPtr = make_cudaPitchedPtr(values.data(), 20, 20, 3);
  peer.dstArray = one;
  peer.extent = make_cudaExtent(5, 3, 2);
  EXPECT_SUCCESS(cudaMemcpy3DPeer(&peer));
  peer.srcPtr = {};
  peer.srcArray = one;
  peer.dstArray = other;
  EXPECT_SUCCESS(cudaMemcpy3DPeerAsync(&peer, nullptr));

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
  cudaMemcpy3DParms copy{};
  copy.srcArray = other;
  copy.dstArray = last;
  copy.extent = make_cudaExtent(5, 3, 2);
  copy.kind = cudaMemcpyDeviceToDevice;
  EXPECT_SUCCESS(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &copy));
  cudaMemcpy3DParms told{};
  EXPECT_SUCCESS(cudaGraphMemcpyNodeGetParams(first, &told));
  EXPECT(told.srcArray == other && told.extent.width == 5);
  copy = {};
  copy.srcArray = last;
  copy.srcPos = make_cudaPos(0, 0, 1);
  copy.dstPtr = make_cudaPitchedPtr(back.data(), 20, 20, 3);
  copy.extent = make_cudaExtent(5, 3, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT_SUCCESS(cudaGraphAddMemcpyNode(&second, graph, &first, 1, &copy));
  EXPECT_SUCCESS(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_SUCCESS(cudaGraphLaunch(exec, nullptr));
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  for (int i = 0; i < 15; ++i) EXPECT(back[i] == float(15 + i));
  EXPECT_SUCCESS(cudaGraphExecDestroy(exec));
  EXPECT_SUCCESS(cudaGraphDestroy(graph));
  for (cudaArray_t array : {one, other, last}) EXPECT_SUCCESS(cudaFreeArray(array));
}

void wrong_textures_are_refused() {
  const auto integers = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  EXPECT_SUCCESS(cudaMallocArray(&array, &integers, 6, 4));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  const auto created = [&] {
    return cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  };
  description.filterMode = cudaFilterModeLinear;
  EXPECT(created() == cudaErrorInvalidFilterSetting);
  description.readMode = cudaReadModeNormalizedFloat;
  EXPECT(created() == cudaErrorInvalidNormSetting);
  description = {};
  EXPECT_SUCCESS(created());
  cudaResourceDesc told{};
  cudaTextureDesc how{};
  EXPECT_SUCCESS(cudaGetTextureObjectResourceDesc(&told, texture));
  EXPECT(told.res.array.array == array);
  EXPECT_SUCCESS(cudaGetTextureObjectTextureDesc(&how, texture));
  EXPECT(std::memcmp(&how, &description, sizeof how) == 0);
  EXPECT_SUCCESS(cudaDestroyTextureObject(texture));
  EXPECT(cudaGetTextureObjectTextureDesc(&how, texture) == cudaErrorInvalidValue);
  cudaSurfaceObject_t surface = 0;
  EXPECT(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
  EXPECT_SUCCESS(cudaFreeArray(array));

  char* memory = nullptr;
  EXPECT_SUCCESS(cudaMalloc(&memory, 4096));
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory + 4, floats(), 1024};
  EXPECT(created() == cudaErrorInvalidValue);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory, floats(), 10, 4, 40};
  EXPECT(created() == cudaErrorInvalidValue);
  resource.res.pitch2D.pitchInBytes = 64;
  EXPECT_SUCCESS(created());
  EXPECT_SUCCESS(cudaDestroyTextureObject(texture));
  EXPECT_SUCCESS(cudaFree(memory));
}

void mipmapped_arrays_have_levels() {
  const auto format = floats();
  cudaMipmappedArray_t array = nullptr;
  EXPECT_SUCCESS(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(12, 5, 0), 99));
  const int widths[] = {12, 6, 3, 1}, heights[] = {5, 2, 1, 1};
  cudaArray_t level = nullptr;
  for (unsigned i = 0; i < 4; ++i) {
    cudaExtent extent{};
    EXPECT_SUCCESS(cudaGetMipmappedArrayLevel(&level, array, i));
    EXPECT_SUCCESS(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    EXPECT(int(extent.width) == widths[i] && int(extent.height) == heights[i]);
  }
  EXPECT(cudaGetMipmappedArrayLevel(&level, array, 4) == cudaErrorInvalidValue);
  EXPECT(cudaFreeArray(level) == cudaErrorInvalidValue);
  EXPECT_SUCCESS(cudaFreeMipmappedArray(array));
}

void limits_are_told() {
  cudaDeviceProp properties{};
  EXPECT_SUCCESS(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.maxTexture1D == 131072 && properties.maxTexture2D[1] == 65536);
  EXPECT(properties.maxTexture3D[2] == 16384 && properties.maxTexture2DLayered[2] == 2048);
  EXPECT(properties.maxTextureCubemapLayered[1] == 2046);
  int attribute = 0;
  EXPECT_SUCCESS(cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxSurface2DWidth, 0));
  EXPECT(attribute == properties.maxSurface2D[0]);
}

int main() {
  arrays_tell_what_they_are();
  wrong_arrays_are_refused();
  copies_stay_in_the_array();
  arrays_are_copied_by_peers_and_nodes();
  wrong_textures_are_refused();
  mipmapped_arrays_have_levels();
  limits_are_told();
}
