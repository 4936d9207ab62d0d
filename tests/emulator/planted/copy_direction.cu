// Copies whose direction disagrees with their pointers. The results are ignored, as in programs
// that check for errors only in debug builds.
#include <cuda_runtime.h>

#include "../planted.h"

__constant__ float weights[8];

void device_to_symbol() {
  Buffer<float> source(8);
  // The default direction is host to device.
  cudaMemcpyToSymbol(weights, source.data, sizeof weights);  // expect symbol: invalid-call
}

void host_as_device() {
  Buffer<float> target(8);
  const float source[8] = {};
  cudaMemcpy(target, source, sizeof source, cudaMemcpyDeviceToDevice);  // expect host: invalid-call
}

void rows() {
  Buffer<float> memory(8);
  float target[8];
  cudaMemcpy2D(target, 16, memory, 16, 16, 2, cudaMemcpyHostToHost);  // expect rows: invalid-call
}

int main(int count, char** arguments) {
  const int result = run_case(
      count, arguments, {{"symbol", device_to_symbol}, {"host", host_as_device}, {"rows", rows}});
  cudaGetLastError();
  return result;
}
