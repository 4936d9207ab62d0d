// Pitched memory of two dimensions: copies in and out, a transpose through a padded tile.
#include "../right.h"

__global__ void transpose(const float* x, size_t x_pitch, float* y, size_t y_pitch, int w, int h) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (c < w && r < h) tile[threadIdx.y][threadIdx.x] = x[r * x_pitch / 4 + c];
  __syncthreads();
  c = blockIdx.y * 16 + threadIdx.x, r = blockIdx.x * 16 + threadIdx.y;
  if (c < h && r < w) y[r * y_pitch / 4 + c] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int w = 37, h = 21;
  std::vector<float> host(w * h), back(w * h);
  for (int i = 0; i < w * h; ++i) host[i] = float(i);
  float *x, *y;
  size_t x_pitch, y_pitch;
  CHECK(cudaMallocPitch(&x, &x_pitch, w * 4, h));
  CHECK(cudaMallocPitch(&y, &y_pitch, h * 4, w));
  CHECK(cudaMemset2D(y, y_pitch, 0, h * 4, w));
  CHECK(cudaMemcpy2D(x, x_pitch, host.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  transpose<<<dim3(3, 2), dim3(16, 16)>>>(x, x_pitch, y, y_pitch, w, h);
  settle();
  CHECK(cudaMemcpy2D(back.data(), h * 4, y, y_pitch, h * 4, w, cudaMemcpyDeviceToHost));
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) EXPECT(back[c * h + r] == host[r * w + c]);
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}
