// A surface load takes its x in elements, but x counts bytes.
#include "../surface.h"

__global__ void read(cudaSurfaceObject_t surface, float* out) {
  const int x = threadIdx.x;
  out[x] = surf2Dread<float>(surface, x, 2);  // expect: misaligned
}

int main() {
  Surface surface(32, 4);
  Buffer<float> out(32);
  read<<<1, 32>>>(surface.object, out);
  return finish();
}
