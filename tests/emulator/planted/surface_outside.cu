// A row of threads is one longer than the row of the surface that it fills.
#include "../surface.h"

__global__ void fill(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x;
  surf2Dwrite(1.0f, surface, x * int(sizeof(float)), 2);  // expect: out-of-bounds
}

int main() {
  Surface surface(31, 4);
  fill<<<1, 32>>>(surface.object);
  return finish();
}
