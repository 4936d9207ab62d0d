// Copies whose source and destination share bytes.
#include "../planted.h"

constexpr cudaMemcpyKind kInside = cudaMemcpyDeviceToDevice;

void shifted() {
  Buffer<char> x(1024);
  cudaMemcpyAsync(x + 64, x, 128, kInside);  // expect shifted: invalid-call
}

void shifted_rows() {
  Buffer<char> x(1024);
  cudaMemcpy2D(x + 64, 64, x, 64, 64, 15, kInside);  // expect shifted_rows: invalid-call
}

void shifted_columns() {
  Buffer<char> x(1024);
  cudaMemcpy2D(x + 8, 64, x, 64, 16, 16, kInside);  // expect shifted_columns: invalid-call
}

void other_pitch() {
  Buffer<char> x(4096);
  cudaMemcpy2D(x + 1024, 128, x, 160, 96, 12, kInside);  // expect other_pitch: invalid-call
}

void boxes() {
  Buffer<char> x(4096);
  cudaMemcpy3DParms box = {};
  box.srcPtr = box.dstPtr = make_cudaPitchedPtr(x, 64, 64, 8);
  box.dstPos = make_cudaPos(4, 2, 1);
  box.extent = make_cudaExtent(32, 4, 4);
  box.kind = kInside;
  cudaMemcpy3D(&box);  // expect boxes: invalid-call
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"shifted", shifted},
                   {"shifted_rows", shifted_rows},
                   {"shifted_columns", shifted_columns},
                   {"other_pitch", other_pitch},
                   {"boxes", boxes}});
}
