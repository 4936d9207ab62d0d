// A blur in place: threads load what their neighbours store through the same surface.
#include "../surface.h"

__global__ void blur(cudaSurfaceObject_t surface) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, last = gridDim.x * blockDim.x - 1;
  const float left = surf2Dread<float>(surface, max(x - 1, 0) * 4, 0);
  const float right = surf2Dread<float>(surface, min(x + 1, last) * 4, 0);
  surf2Dwrite((left + right) / 2, surface, x * 4, 0);  // expect: race
}

int main() {
  Surface surface(128, 4);
  blur<<<2, 64>>>(surface.object);
  return finish();
}
