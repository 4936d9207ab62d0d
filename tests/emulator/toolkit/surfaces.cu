// CUDA arrays and surfaces in the style of NVIDIA's samples: stores and loads with every boundary
// mode, shapes and sizes of elements, and copies of every kind between arrays and memory.
#include "texture_reference.h"

template <class T>
__global__ void store_all(cudaSurfaceObject_t surface, const T* values, int width, int height,
                          int slices, int shape) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  for (int z = 0; z < slices; ++z) {
    for (int y = 0; y < height; ++y) {
      const T value = values[(z * height + y) * width + x];
      const int byte = x * int(sizeof(T));
      if (shape == 1) surf1Dwrite(value, surface, byte);
      if (shape == 2) surf2Dwrite(value, surface, byte, y);
      if (shape == 3) surf3Dwrite(value, surface, byte, y, z);
      if (shape == 4) surf1DLayeredwrite(value, surface, byte, z);
      if (shape == 5) surf2DLayeredwrite(value, surface, byte, y, z);
      if (shape == 6) surfCubemapwrite(value, surface, byte, y, z);
    }
  }
}

template <class T>
__global__ void load_all(cudaSurfaceObject_t surface, T* values, int width, int height, int slices,
                         int shape) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  for (int z = 0; z < slices; ++z) {
    for (int y = 0; y < height; ++y) {
      T& value = values[(z * height + y) * width + x];
      const int byte = x * int(sizeof(T));
      if (shape == 1) value = surf1Dread<T>(surface, byte);
      if (shape == 2) value = surf2Dread<T>(surface, byte, y);
      if (shape == 3) value = surf3Dread<T>(surface, byte, y, z);
      if (shape == 4) value = surf1DLayeredread<T>(surface, byte, z);
      if (shape == 5) value = surf2DLayeredread<T>(surface, byte, y, z);
      if (shape == 6) value = surfCubemapread<T>(surface, byte, y, z);
    }
  }
}

// Stores through a surface, loads through it and copies out must agree.
template <class T>
void shapes_and_elements(const char* name) {
  struct Shape {
    int number, width, height, slices;
    unsigned flags;
  };
  const Shape shapes[] = {{1, 37, 0, 0, 0},
                          {2, 19, 11, 0, 0},
                          {3, 7, 5, 3, 0},
                          {4, 21, 0, 4, cudaArrayLayered},
                          {5, 6, 9, 4, cudaArrayLayered},
                          {6, 5, 5, 6, cudaArrayCubemap}};
  for (const Shape& s : shapes) {
    const Picture from = Picture::random<T>(name, s.width, s.height, s.slices);
    const Picture zeros{name,
                        s.width,
                        s.height,
                        s.slices,
                        from.format,
                        false,
                        std::vector<unsigned char>(from.bytes.size())};
    const Array array(zeros, s.flags | cudaArraySurfaceLoadStore);
    const cudaResourceDesc resource = array.resource();
    cudaSurfaceObject_t surface = 0;
    SUCCEED(cudaCreateSurfaceObject(&surface, &resource));
    std::vector<T> values(from.texels());
    std::memcpy(values.data(), from.bytes.data(), from.bytes.size());
    const Buffer<T> given(values), loaded(values.size());
    const int height = std::max(s.height, 1), slices = std::max(s.slices, 1);
    store_all<<<2, 32>>>(surface, given.data, s.width, height, slices, s.number);
    load_all<<<2, 32>>>(surface, loaded.data, s.width, height, slices, s.number);
    const std::vector<T> back = loaded.values();
    verify(std::memcmp(back.data(), values.data(), from.bytes.size()) == 0, name, s.number);
    std::vector<T> copied(values.size());
    cudaMemcpy3DParms copy{};
    copy.srcArray = array.array;
    copy.dstPtr = make_cudaPitchedPtr(copied.data(), s.width * sizeof(T), s.width, height);
    copy.extent = make_cudaExtent(s.width, height, slices);
    copy.kind = cudaMemcpyDeviceToHost;
    SUCCEED(cudaMemcpy3D(&copy));
    verify(std::memcmp(copied.data(), values.data(), from.bytes.size()) == 0, name, -s.number);
    SUCCEED(cudaDestroySurfaceObject(surface));
  }
}

__global__ void outside(cudaSurfaceObject_t surface, int* clamped, int* zeros, int width,
                        int height) {
  const int x = int(threadIdx.x) - 4, y = int(threadIdx.y) - 4;
  const int i = threadIdx.y * blockDim.x + threadIdx.x;
  clamped[i] = surf2Dread<int>(surface, x * 4, y, cudaBoundaryModeClamp);
  zeros[i] = surf2Dread<int>(surface, x * 4, y, cudaBoundaryModeZero);
}

__global__ void store_outside(cudaSurfaceObject_t surface) {
  const int x = int(threadIdx.x) - 4, y = int(threadIdx.y) - 4;
  surf2Dwrite(1000 + x + 10 * y, surface, x * 4, y, cudaBoundaryModeZero);
}

void boundaries() {
  const int width = 7, height = 5;
  const Picture picture = Picture::random<int>("boundaries", width, height, 0);
  const Array array(picture, cudaArraySurfaceLoadStore);
  const cudaResourceDesc resource = array.resource();
  cudaSurfaceObject_t surface = 0;
  SUCCEED(cudaCreateSurfaceObject(&surface, &resource));
  const Buffer<int> clamped(256), zeros(256);
  outside<<<1, dim3(16, 16)>>>(surface, clamped.data, zeros.data, width, height);
  const auto at_edge = clamped.values(), zero = zeros.values();
  for (int i = 0; i < 256; ++i) {
    const int x = i % 16 - 4, y = i / 16 - 4;
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    const double expected =
        picture.texel(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1), 0)[0];
    verify(at_edge[i] == expected, "clamp", i);
    verify(zero[i] == (inside ? expected : 0), "zero", i);
  }
  store_outside<<<1, dim3(16, 16)>>>(surface);
  std::vector<int> stored(width * height);
  SUCCEED(cudaMemcpy2DFromArray(stored.data(), width * 4, array.array, 0, 0, width * 4, height,
                                cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i)
    verify(stored[i] == 1000 + i % width + 10 * (i / width), "stores outside are dropped", i);
  SUCCEED(cudaDestroySurfaceObject(surface));
}

__global__ void add_one(cudaSurfaceObject_t surface, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width) surf2Dwrite(surf2Dread<int>(surface, x * 4, y) + 1, surface, x * 4, y);
}

// Copies and kernels in a captured graph, on arrays.
void graph_of_array_work() {
  const int width = 12, height = 6;
  const Picture picture = Picture::random<int>("graph", width, height, 0);
  const Array array(picture, cudaArraySurfaceLoadStore);
  const cudaResourceDesc resource = array.resource();
  cudaSurfaceObject_t surface = 0;
  SUCCEED(cudaCreateSurfaceObject(&surface, &resource));
  const Buffer<int> out(width * height);
  cudaStream_t stream = nullptr;
  SUCCEED(cudaStreamCreate(&stream));
  SUCCEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_one<<<height, 32, 0, stream>>>(surface, width);
  SUCCEED(cudaMemcpy2DFromArrayAsync(out.data, width * 4, array.array, 0, 0, width * 4, height,
                                     cudaMemcpyDeviceToDevice, stream));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  SUCCEED(cudaStreamEndCapture(stream, &graph));
  SUCCEED(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) SUCCEED(cudaGraphLaunch(exec, stream));
  SUCCEED(cudaStreamSynchronize(stream));
  const auto values = out.values();
  for (int i = 0; i < width * height; ++i)
    verify(values[i] == int(picture.texel(i % width, i / width, 0)[0]) + 3, "graph", i);
  SUCCEED(cudaGraphExecDestroy(exec));
  SUCCEED(cudaGraphDestroy(graph));
  SUCCEED(cudaStreamDestroy(stream));
  SUCCEED(cudaDestroySurfaceObject(surface));
}

void copies_of_parts() {
  const int width = 10, height = 6;
  const Picture picture = Picture::random<short>("copies", width, height, 0);
  const Picture zeros{"zeros",
                      width,
                      height,
                      0,
                      picture.format,
                      false,
                      std::vector<unsigned char>(picture.bytes.size())};
  const Array from(picture, 0), to(zeros, 0);
  SUCCEED(
      cudaMemcpy2DArrayToArray(to.array, 4, 1, from.array, 2, 2, 12, 3, cudaMemcpyDeviceToDevice));
  std::vector<short> got(width * height);
  SUCCEED(cudaMemcpy2DFromArray(got.data(), width * 2, to.array, 0, 0, width * 2, height,
                                cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i) {
    const int x = i % width, y = i / width;
    const bool inside = x >= 2 && x < 8 && y >= 1 && y < 4;
    verify(got[i] == (inside ? picture.texel(x - 1, y + 1, 0)[0] : 0), "array to array", i);
  }
  // A part to the host and back, through a stream and pinned memory.
  short* pinned = nullptr;
  cudaStream_t stream = nullptr;
  SUCCEED(cudaMallocHost(&pinned, 15 * sizeof(short)));
  SUCCEED(cudaStreamCreate(&stream));
  SUCCEED(cudaMemcpy2DFromArrayAsync(pinned, 10, from.array, 6, 1, 10, 3, cudaMemcpyDeviceToHost,
                                     stream));
  SUCCEED(
      cudaMemcpy2DToArrayAsync(to.array, 0, 3, pinned, 10, 10, 3, cudaMemcpyHostToDevice, stream));
  SUCCEED(cudaStreamSynchronize(stream));
  SUCCEED(cudaMemcpy2DFromArray(got.data(), width * 2, to.array, 0, 0, width * 2, height,
                                cudaMemcpyDeviceToHost));
  for (int i = 0; i < 15; ++i)
    verify(got[(3 + i / 5) * width + i % 5] == picture.texel(3 + i % 5, 1 + i / 5, 0)[0], "parts",
           i);
  SUCCEED(cudaStreamDestroy(stream));
  SUCCEED(cudaFreeHost(pinned));
}

int main() {
  shapes_and_elements<unsigned char>("uchar");
  shapes_and_elements<short>("short");
  shapes_and_elements<float>("float");
  shapes_and_elements<uchar4>("uchar4");
  shapes_and_elements<ushort4>("ushort4");
  shapes_and_elements<int2>("int2");
  shapes_and_elements<float4>("float4");
  boundaries();
  graph_of_array_work();
  copies_of_parts();
  return exit_code();
}
