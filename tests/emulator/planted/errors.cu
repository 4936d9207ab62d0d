// Errors of the runtime that the program does not look at.
#include "../planted.h"

__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // expect kernel_failed: out-of-bounds
                       // expect no_memory: out-of-bounds
}
__global__ void fill_shared(int* x) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;
  x[threadIdx.x] = tile[threadIdx.x];
}
__device__ int table[16];

void block_too_large() {
  Buffer<int> x(2048);
  fill<<<1, 2048>>>(x);  // expect block_too_large: unchecked-error
  cudaDeviceSynchronize();
}

void empty_grid() {
  Buffer<int> x(32);
  fill<<<0, 32>>>(x);  // expect empty_grid: unchecked-error
  cudaDeviceSynchronize();
}

void too_much_shared() {
  Buffer<int> x(32);
  fill_shared<<<1, 32, 96 * 1024>>>(x);  // expect too_much_shared: unchecked-error
  cudaDeviceSynchronize();
}

void grid_too_tall() {
  Buffer<int> x(32);
  fill<<<dim3(1, 70000), 32>>>(x);  // expect grid_too_tall: unchecked-error
  cudaDeviceSynchronize();
}

void no_memory() {
  int* x = nullptr;
  cudaMalloc(&x, std::size_t{1} << 50);
  fill<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}

void cooperative_too_large() {
  Buffer<int> x(32);
  void* arguments[] = {&x.data};
  const void* f = reinterpret_cast<const void*>(fill);
  const int n = 1 << 16;
  void** const a = arguments;
  cudaLaunchCooperativeKernel(f, n, 32, a);  // expect cooperative_too_large: unchecked-error
  cudaDeviceSynchronize();
}

void launch_ex_too_large() {
  Buffer<int> x(32);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 2048;
  cudaLaunchKernelEx(&config, fill, x.data);  // expect launch_ex_too_large: unchecked-error
}

void pitch_too_small() {
  Buffer<float> x(1024);
  float host[256] = {};
  const cudaMemcpyKind up = cudaMemcpyHostToDevice;
  cudaMemcpy2D(x, 64, host, 128, 128, 8, up);  // expect pitch_too_small: unchecked-error
}

void host_symbol() {
  static int on_host[16];
  int values[16] = {};
  cudaMemcpyToSymbol(on_host, values, sizeof values);  // expect host_symbol: unchecked-error
}

void symbol_too_long() {
  int values[32] = {};
  cudaMemcpyToSymbol(table, values, sizeof values);  // expect symbol_too_long: out-of-bounds
}

void wrong_direction() {
  Buffer<int> x(32);
  int host[32] = {};
  const cudaMemcpyKind down = cudaMemcpyDeviceToHost;
  cudaMemcpy(x, host, sizeof host, down);  // expect wrong_direction: unchecked-error
}

void wrong_device() {
  cudaSetDevice(7);  // expect wrong_device: unchecked-error
  Buffer<int> x(32);
  fill<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}

void stream_destroyed() {
  cudaStream_t stream;
  Buffer<int> x(32);
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamDestroy(stream));
  fill<<<1, 32, 0, stream>>>(x);  // expect stream_destroyed: invalid-call
  cudaGetLastError();
}

void kernel_failed() {
  int* x = nullptr;
  fill<<<1, 32>>>(x);
  std::exit(0);
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"block_too_large", block_too_large},
                   {"empty_grid", empty_grid},
                   {"too_much_shared", too_much_shared},
                   {"grid_too_tall", grid_too_tall},
                   {"no_memory", no_memory},
                   {"cooperative_too_large", cooperative_too_large},
                   {"launch_ex_too_large", launch_ex_too_large},
                   {"pitch_too_small", pitch_too_small},
                   {"host_symbol", host_symbol},
                   {"symbol_too_long", symbol_too_long},
                   {"wrong_direction", wrong_direction},
                   {"wrong_device", wrong_device},
                   {"stream_destroyed", stream_destroyed},
                   {"kernel_failed", kernel_failed}});
}
