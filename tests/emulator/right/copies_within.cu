// Copies within one allocation whose source and destination share no bytes.
#include "../right.h"

int main() {
  constexpr int kPitch = 64, kRows = 16;
  const cudaMemcpyKind inside = cudaMemcpyDeviceToDevice;
  Buffer<char> x(kPitch * kRows);
  std::vector<char> host(kPitch * kRows);
  for (int i = 0; i < kPitch * kRows; ++i) host[i] = static_cast<char>(i % kPitch + i / kPitch);
  upload<char>(x, host);

  // Columns beside the source's, then alternate rows, then rows that end where the source begins.
  CHECK(cudaMemcpy2D(x + 16, kPitch, x, kPitch, 16, kRows, inside));
  CHECK(cudaMemcpy2D(x + kPitch, 2 * kPitch, x, 2 * kPitch, kPitch, kRows / 2, inside));
  CHECK(cudaMemcpyAsync(x, x + 4 * kPitch, 4 * kPitch, inside));
  // Memory to itself, and an overlap that cudaMemcpy allows.
  CHECK(cudaMemcpyAsync(x, x, kPitch, inside));
  CHECK(cudaMemcpy(x + 8 * kPitch, x + 8 * kPitch, kPitch, inside));
  // The lower half of a box to the upper half.
  cudaMemcpy3DParms box = {};
  box.srcPtr = box.dstPtr = make_cudaPitchedPtr(x, 16, 16, 8);
  box.dstPos = make_cudaPos(0, 0, 2);
  box.extent = make_cudaExtent(16, 8, 2);
  box.kind = inside;
  CHECK(cudaMemcpy3D(&box));
  settle();
  const std::vector<char> result = values<char>(x, kPitch * kRows);
  EXPECT(result[15 * kPitch + 17] == host[14 * kPitch + 1]);
}
