// Passes of a stencil between two surfaces that change places; a texture reads the last result. The
// objects are destroyed while the last kernel may still run.
#include "../right.h"
#include "../surface.h"

__global__ void pass(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const float above = surf2Dread<float>(from, x * 4, y - 1, cudaBoundaryModeClamp);
  const float below = surf2Dread<float>(from, x * 4, y + 1, cudaBoundaryModeZero);
  surf2Dwrite(above + below + 1, to, x * 4, y);
}

__global__ void read(cudaTextureObject_t texture, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

int main() {
  const int width = 50, height = 6;
  Surface a(width, height), b(width, height);
  Buffer<float> out(width * height);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 4; ++i) {
    pass<<<dim3(2, height), 32, 0, stream>>>(i % 2 ? b.object : a.object,
                                             i % 2 ? a.object : b.object, width, height);
  }
  const cudaTextureObject_t texture = texture_of(a.array);
  read<<<dim3(2, height), 32, 0, stream>>>(texture, out, width);
  CHECK(cudaGetLastError());
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> expected(height), next(height);
  for (int i = 0; i < 4; ++i) {
    for (int y = 0; y < height; ++y) {
      next[y] = expected[y == 0 ? 0 : y - 1] + (y + 1 < height ? expected[y + 1] : 0) + 1;
    }
    expected.swap(next);
  }
  const auto got = values(out.data, width * height);
  for (int i = 0; i < width * height; ++i) EXPECT(got[i] == expected[i / width]);
  CHECK(cudaStreamDestroy(stream));
}
